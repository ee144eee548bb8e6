/** The model of a call: by its alias, unknown, forbidden, of another endpoint, or none at all. */

import { describe, expect, test } from "bun:test";
import { chatAnswers, chatStream, openaiEvents } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { standardManifest } from "../../setup/harness.ts";
import { joinOperator, type Visitor } from "../../setup/platform-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const manifest = `${standardManifest}  unready: { endpoint: chat, routes: [{ provider: fake, model: x }] }\n`;
const gateway = useTestGateway({ isInStore: true, manifest });

const messages = [{ role: "user", content: "Hi" }];
const chat = (model: string, more: object = {}, key = gateway.key) =>
  gateway.call(
    "/chat/completions",
    { model, messages, ...more },
    { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } },
  );
const operations = () => gateway.server.operations;
const alias = (id: string, name: string) => operations().catalog.addAlias({ id, alias: name });

let operator: Visitor | undefined;
async function receiptOf(response: Response) {
  operator ??= await joinOperator(gateway);
  const id = response.headers.get("x-request-id") ?? "";
  return (await operator.ask("GET /api/requests/:id", { params: { id } })).body;
}

describe("an alias", () => {
  test("is answered under the name that was asked for; the receipt names the model", async () => {
    await alias("svc-3-flash", "gpt-4o-mini");
    gateway.upstream.replyWith(chatAnswers.plain({ text: "hello" }));
    const response = await chat("gpt-4o-mini");
    expect(response.status).toBe(200);
    expect((await response.json()).model).toBe("gpt-4o-mini");
    expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ model: "upstream-chat" });
    expect((await receiptOf(response)).model).toBe("svc-3-flash");
    const direct = await chat("svc-3-flash");
    expect((await direct.json()).model).toBe("svc-3-flash");
  });

  test("is in every chunk of a stream, and in the reply of embeddings", async () => {
    await alias("svc-3-flash", "streamed");
    await alias("svc-embedding-2", "vectors");
    gateway.upstream.replyWith(chatStream({ events: openaiEvents({ pieces: ["a", "b"] }) }));
    const text = await (await chat("streamed", { stream: true })).text();
    const chunks = text
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)));
    expect(chunks.length).toBeGreaterThan(1);
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(["streamed"]));
    gateway.upstream.replyWith(willingVendor);
    const embedded = await gateway.call("/embeddings", { model: "vectors", input: "x" });
    expect((await embedded.json()).model).toBe("vectors");
    expect((await receiptOf(embedded)).model).toBe("svc-embedding-2");
  });

  test("is resolved before the list of models that a key can use", async () => {
    await alias("svc-2-flash", "free");
    gateway.upstream.replyWith(chatAnswers.plain());
    const keyFor = async (model: string) =>
      operations().keys.create({ account: gateway.account, models: [model] });
    const { key } = await keyFor("svc-2-flash");
    expect((await chat("free", {}, key)).status).toBe(200);
    const { key: other } = await keyFor("svc-3-flash");
    await expectRefusal(chat("free", {}, other), { status: 403, code: "model_not_allowed" });
    // A key that is limited to an alias is limited to its model.
    const { key: named, models } = await keyFor("free");
    expect(models).toEqual(["svc-2-flash"]);
    expect((await chat("free", {}, named)).status).toBe(200);
  });

  test("is listed with the data of its model, for keys that can use that", async () => {
    await alias("vendor/with-slash", "slash");
    const list = await (await gateway.call("/models", undefined, { method: "GET" })).json();
    const byId = new Map(list.data.map((one: { id: string }) => [one.id, one]));
    const { id: _, ...model } = byId.get("vendor/with-slash") as { id: string };
    expect(byId.get("slash")).toEqual({ id: "slash", ...model });
    const one = await gateway.call("/models/slash", undefined, { method: "GET" });
    expect(await one.json()).toEqual({ id: "slash", ...model });
  });

  test("is unknown once it is removed", async () => {
    await alias("svc-3-flash", "short-lived");
    await operations().catalog.removeAlias({ id: "svc-3-flash", alias: "short-lived" });
    await expectRefusal(chat("short-lived"), { code: "model_not_allowed" });
  });
});

const bodies = {
  "/chat/completions": { messages },
  "/embeddings": { input: "x" },
  "/audio/speech": { input: "x", voice: "Kore" },
} as const;
type Path = keyof typeof bodies;
const paths = Object.keys(bodies) as Path[];
const homes: Readonly<Record<string, Path>> = {
  "svc-3-flash": "/chat/completions",
  "svc-embedding-2": "/embeddings",
  "multimodal-embedding-1": "/embeddings",
  "svc-2.5-flash-tts": "/audio/speech",
};

const post = (path: Path, model: string, key = gateway.key) =>
  gateway.call(
    path,
    { model, ...bodies[path] },
    { headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } },
  );

async function keyFor(...models: readonly string[]): Promise<string> {
  const { key } = await gateway.server.operations.keys.create({ account: gateway.account, models });
  return key;
}

describe("a call", () => {
  test("of an unknown, unpriced, unrouted or forbidden model gets one and the same answer", async () => {
    const narrow = await keyFor("svc-3-flash");
    for (const path of paths) {
      const answers = new Set<string>();
      for (const [id, key] of [
        ["none-such", gateway.key],
        ["unpriced", gateway.key],
        ["unrouted", gateway.key],
        ["svc-2-flash", narrow],
        ["svc-embedding-2", narrow],
      ] as const) {
        const refusal = await refusalOf(post(path, id, key));
        answers.add(JSON.stringify(refusal).replace(id, "ID"));
      }
      expect(answers.size).toBe(1);
      expect(JSON.parse([...answers][0] ?? "")).toMatchObject(
        path === "/chat/completions"
          ? { status: 403, code: "model_not_allowed", type: "permission_error", param: "model" }
          : { status: 400, code: "model_not_allowed", type: "invalid_request_error" },
      );
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("on another endpoint than the model's own is told where to go", async () => {
    for (const [id, home] of Object.entries(homes))
      for (const path of paths.filter((other) => other !== home)) {
        const refusal = await expectRefusal(post(path, id), {
          status: 400,
          code: "wrong_endpoint",
          param: "model",
        });
        expect(refusal.message).toContain(`POST /v1${home}`);
      }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("without a model, or with one that is no text, is refused by name", async () => {
    for (const path of paths)
      for (const model of [undefined, null, "", 7, ["svc-3-flash"]])
        await expectRefusal(gateway.call(path, { ...bodies[path], model }), {
          status: 400,
          code: "invalid_request",
          param: "model",
        });
  });

  test("of a model with a long name has 100 letters of it in the refusal", async () => {
    for (const path of paths) {
      const { code, message } = await refusalOf(post(path, "m".repeat(5_000)));
      expect(code).toBe("model_not_allowed");
      expect(/m{10,}/.exec(message)?.[0]).toBe("m".repeat(100));
    }
  });
});

test("a model that is priced and routed by an apply can be called at once", async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  expect((await chat("unready")).status).toBe(403);
  const text = manifest
    .replaceAll("UPSTREAM", gateway.upstream.baseUrl)
    .replace("unready: { endpoint: chat,", "$& price: { input: 0, output: 0 },");
  await operations().manifest.apply({ text, dryRun: false });
  expect((await chat("unready")).status).toBe(200);
});
