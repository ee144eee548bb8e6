import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { testCacheDir, weightsDir } from "../../engine/test/weights/weights-dir.ts";
import type { ErrorBody } from "../replies/event-stream.ts";
import { createHome } from "../setup/child.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(300_000);

let engine: EngineHome | undefined;
afterEach(async () => {
  await engine?.stop();
  engine = undefined;
});

describe("an operator's own model", () => {
  test("is a config entry: a GGUF file that replaces the embedded chat, and one that is added", async () => {
    const file = join(await weightsDir("chat"), "model.gguf");
    const own = await startEngineHome({
      sets: [],
      config: `
engine: { models: { chat: { file: "${file}", context: 256 }, tiny: { file: "${file}", parallel: 2 } } }
models:
  mine: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: engine, model: tiny }] }
  short: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: engine, model: chat }] }`,
    });
    engine = own;
    const say = (model: string, content: string) =>
      own.call("/chat/completions", {
        model,
        max_tokens: 3,
        messages: [{ role: "user", content }],
      });
    const [one, two] = await Promise.all([say("mine", "Hello"), say("mine", "Good day")]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect((await say("short", "Hello")).status).toBe(200);
    const long = await say("short", "word ".repeat(300));
    expect(((await long.json()) as ErrorBody).error.message).toContain("context length is 256");
  });

  test("whose file is not there is told at the start and in the log, never to callers", async () => {
    engine = await startEngineHome({
      sets: [],
      config: `
engine: { models: { mine: { file: ./nowhere.gguf } } }
models: { mine: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: engine, model: mine }] } }`,
    });
    const reply = await engine.call("/chat/completions", {
      model: "mine",
      messages: [{ role: "user", content: "Hello" }],
    });
    expect(reply.status).toBe(502);
    const { error } = (await reply.json()) as ErrorBody;
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).not.toContain("nowhere.gguf");
    expect(engine.server.stdout()).toMatch(
      /mine +the file of mine, .*nowhere\.gguf, does not exist/,
    );
    await engine.server.waitForLog("nowhere.gguf");
  });

  test("and an engine section bring the embedded ones that the catalogue lacks", async () => {
    const home = createHome({ isProcess: true });
    home.writeConfig(`
engine: {}
models: { svc-3-flash: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: engine, model: codr }] } }`);
    const server = await home.serve({ SVC_ENGINE: "on", SVC_CACHE_DIR: testCacheDir() });
    expect(server.stdout()).toContain("model codr does not exist");
    const models = await home.json<{ id: string; routes: string[] }[]>(["model", "list"]);
    expect(models).toHaveLength(6);
    // What the operator has written is left as it is.
    expect(models.find(({ id }) => id === "svc-3-flash")?.routes).toEqual(["engine/codr"]);
    await home.remove();
  });

  test("and one that has lost its routes gets its own back, with its price", async () => {
    const home = createHome({ isProcess: true });
    const environment = { SVC_ENGINE: "on", SVC_CACHE_DIR: testCacheDir() };
    home.writeConfig(`
engine: {}
models:
  svc-embedding-2: { endpoint: embeddings, input: text, price: { input: "0.07" } }
  svc-3-flash: { endpoint: embeddings, input: text, price: { input: "0.07" } }`);
    await home.serve(environment);
    const models = await home.json<{ id: string; routes: string[]; price: object }[]>([
      "model",
      "list",
    ]);
    const find = (id: string) => models.find((model) => model.id === id);
    expect(find("svc-embedding-2")).toMatchObject({
      routes: ["engine/text"],
      price: { input: "0.07" },
    });
    // Of another kind than the embedded one of its name.
    expect(find("svc-3-flash")?.routes).toEqual([]);
    await home.remove();
  });

  test("that is written wrongly stops the start, with every mistake", async () => {
    const home = createHome({ isProcess: true });
    home.writeConfig(
      `engine: { models: { text: { file: a.gguf }, mine: { context: 5, size: 3 } }, more: 1 }`,
    );
    const { code, stderr } = await home.svc(["serve"], { environment: { SVC_ENGINE: "on" } });
    expect(code).toBe(2);
    for (const word of [
      "engine.models.text",
      "mine.file is missing",
      "mine.context",
      "mine.size",
      "engine.more",
    ])
      expect(stderr).toContain(word);
    await home.remove();
  });
});
