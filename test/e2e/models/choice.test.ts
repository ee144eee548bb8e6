/** The model of a call: unknown, forbidden, of another endpoint, or none at all. */

import { describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { standardManifest, startTestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const messages = [{ role: "user", content: "Hi" }];
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

const gateway = useTestGateway();

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
        const refusal = await refusalOf(post(path, id));
        expect(refusal).toMatchObject({ status: 400, code: "wrong_endpoint", param: "model" });
        expect(refusal.message).toContain(`POST /v1${home}`);
      }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("without a model, or with one that is no text, is refused by name", async () => {
    for (const path of paths)
      for (const model of [undefined, null, "", 7, ["svc-3-flash"]])
        expect(await refusalOf(gateway.call(path, { ...bodies[path], model }))).toMatchObject({
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
  const own = await startTestGateway();
  try {
    own.upstream.replyWith(chatAnswers.plain());
    const call = () => own.call("/chat/completions", { model: "unpriced", messages });
    expect((await call()).status).toBe(403);
    const text = standardManifest
      .replaceAll("UPSTREAM", own.upstream.baseUrl)
      .replace("unpriced: { endpoint: chat,", "$& price: { input: 0, output: 0 },");
    await own.server.operations.manifest.apply({ text, dryRun: false });
    expect((await call()).status).toBe(200);
  } finally {
    await own.stop();
  }
});
