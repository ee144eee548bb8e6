import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonReply } from "../../../../test/fake/http/reply.ts";
import { chatAnswers, speechReplies } from "../../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../../test/setup/harness.ts";
import { firstCallSamples, modelToTry } from "./first-call.ts";

const chat = { id: "svc-3-flash", endpoint: "chat", input: "text" };
const speech = { id: "svc-2.5-flash-tts", endpoint: "speech", input: "text" };
const vectors = { id: "svc-embedding-2", endpoint: "embeddings", input: "text" };
const media = { id: "multimodal-embedding-1", endpoint: "embeddings", input: "media" };

const codeOf = (label: string, options: Parameters<typeof firstCallSamples>[0]) =>
  firstCallSamples(options).find((sample) => sample.label === label)?.code ?? "";

describe("the sample for curl, pasted into a shell,", () => {
  let gateway: TestGateway;
  let folder: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    folder = mkdtempSync(join(tmpdir(), "svc-first-call-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await gateway.stop();
  });

  /** As somebody would do it, in the folder where they are. */
  async function paste(code: string, environment: Readonly<Record<string, string>> = {}) {
    const child = Bun.spawn(["bash", "-c", code.replace("curl ", "curl -sS ")], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      stderr: "pipe",
    });
    const text = await new Response(child.stdout).text();
    expect(await new Response(child.stderr).text()).toBe("");
    return text;
  }
  const vectorReply = jsonReply({
    body: {
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 5, total_tokens: 5 },
    },
  });

  test("talks to a chat model with the key that is in it, or with that of the environment", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const { baseUrl, key } = gateway;
    const shown = await paste(codeOf("curl", { baseUrl, model: chat, key }));
    expect(JSON.parse(shown)).toMatchObject({ object: "chat.completion", model: chat.id });
    const kept = await paste(codeOf("curl", { baseUrl, model: chat }), { SVC_API_KEY: key });
    expect(JSON.parse(kept)).toMatchObject({ object: "chat.completion" });
  });

  test.each([vectors, media])("gets vectors of $input", async (model) => {
    gateway.upstream.replyWith(vectorReply);
    const { baseUrl, key } = gateway;
    const reply = JSON.parse(await paste(codeOf("curl", { baseUrl, model, key })));
    expect(reply.data[0].embedding.length).toBeGreaterThan(0);
  });

  test("writes speech into a file", async () => {
    gateway.upstream.replyWith(speechReplies.pcmWithLength({ seconds: 1 }));
    const { baseUrl, key } = gateway;
    await paste(codeOf("curl", { baseUrl, model: speech, key }));
    expect(readFileSync(join(folder, "hello.wav")).subarray(0, 4).toString()).toBe("RIFF");
  });

  test("finds all that it needs in the environment that is shown with it", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const { baseUrl, key } = gateway;
    const both = `${codeOf("Environment", { baseUrl, model: chat, key })}
[ "$OPENAI_BASE_URL" = "${baseUrl}" ] && [ "$OPENAI_API_KEY" = "$SVC_API_KEY" ] &&
${codeOf("curl", { baseUrl, model: chat })}`;
    expect(JSON.parse(await paste(both))).toMatchObject({ object: "chat.completion" });
  });
});

test("programs keep the key out of their text; only where it is shown does a sample have it", () => {
  const options = { baseUrl: "http://gateway.example/v1", key: "sk-svc-secret" };
  for (const model of [chat, speech, vectors, media]) {
    const samples = firstCallSamples({ ...options, model });
    expect(samples.map(({ label }) => label)).toEqual([
      "curl",
      "Python",
      "TypeScript",
      "Environment",
    ]);
    for (const { label, code } of samples) {
      expect(code).toContain(options.baseUrl);
      expect(code.includes(options.key)).toBe(label === "curl" || label === "Environment");
      expect(code.includes(model.id)).toBe(label !== "Environment");
    }
    const { baseUrl } = options;
    expect(firstCallSamples({ baseUrl, model })).toHaveLength(3);
  }
});

test("the model to try is one that the key may call, a chat model where there is one", () => {
  const models = [
    { ...vectors, status: "active" },
    { ...chat, id: "old", status: "deprecated" },
    { ...chat, id: "gone", status: "retired" },
    { ...chat, status: "active" },
  ];
  expect(modelToTry(models, null)?.id).toBe("svc-3-flash");
  expect(modelToTry(models, ["svc-embedding-2", "old"])?.id).toBe("old");
  expect(modelToTry(models, ["svc-embedding-2"])?.id).toBe("svc-embedding-2");
  expect(modelToTry(models, ["gone", "svc-9"])).toBeUndefined();
});
