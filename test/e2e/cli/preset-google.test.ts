/** The whole catalogue of the contract on Gemini and Vertex AI, as `svc init --preset google` sets it up. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tone } from "../../fake/openai/speech-replies.ts";
import type { Reply } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import {
  GEMINI_USAGE,
  geminiAudio,
  geminiError,
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { readAssertion, serviceAccount, tokenReply } from "../../fake/vendors/vertex-account.ts";
import { imagePrediction, videoPrediction } from "../../fake/vendors/vertex-replies.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { createHome } from "../../setup/child.ts";
import { useFolder } from "../../setup/folder.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";

const folder = useFolder();
const accountFile = join(folder, "account.json");
const geminiKey = "AIza-of-the-operator";

let gateway: TestGateway;
let payer: Payer;
let reply: (request: RecordedRequest) => Reply;

beforeAll(async () => {
  gateway = await startTestGateway({
    manifest: await presetText(),
    environment: {
      GEMINI_API_KEY: geminiKey,
      GOOGLE_CLOUD_PROJECT: "operators-project",
      GOOGLE_APPLICATION_CREDENTIALS: accountFile,
    },
  });
  writeFileSync(accountFile, serviceAccount(`${gateway.upstream.baseUrl}/token`));
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  gateway.upstream.reset();
  gateway.upstream.replyWith((request) =>
    request.path === "/v1/token" ? signIn(request) : reply(request),
  );
  payer = await openPayer(gateway);
});

/** What the command prints, with the fake in the place of Google. */
async function presetText(): Promise<string> {
  const home = createHome();
  const { stdout, code } = await home.svc("init --preset google --print");
  await home.remove();
  if (code !== 0) throw new Error(`svc init ended with ${code}`);
  const at = (place: string) => `\n    base_url: UPSTREAM/${place}\n    allow_private: true\n`;
  return stdout
    .replace("vendor: gemini\n", (line) => line.trimEnd() + at("gemini"))
    .replaceAll("kind: vertex\n", (line) => line.trimEnd() + at("vertex"));
}

function signIn(request: RecordedRequest): Reply {
  // Throws, and so fails the call, if the account's key did not sign it.
  readAssertion(request.body);
  return tokenReply("token-of-the-account");
}

/** Those of the last call, without sign-ins. */
const calls = () => gateway.upstream.requests.filter(({ path }) => path !== "/v1/token");
const gemini = (model: string, method: string) => `/v1/gemini/models/${model}:${method}`;
const vertex = (location: string, model: string, method: string) =>
  `/v1/vertex/projects/operators-project/locations/${location}/publishers/google/models/${model}:${method}`;

test("all five models are listed", async () => {
  const response = await gateway.call("/models", undefined, { method: "GET" });
  const { data } = (await response.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id).toSorted()).toEqual([
    "multimodal-embedding-1",
    "svc-2.5-flash-tts",
    "svc-2.5-pro-tts",
    "svc-3-flash",
    "svc-embedding-2",
  ]);
});

const base64Of = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const image = `data:image/png;base64,${base64Of("tiny.png")}`;
const video = { video: { bytesBase64Encoded: base64Of("h264-3s.mp4") } };
const values = Array.from({ length: 3072 }, (_, at) => (at === 0 ? 3 : at === 1 ? 4 : 0));
const mediaPath = vertex("us-central1", "multimodalembedding@001", "predict");
const whole = geminiReply({
  parts: [{ text: "Hello there." }],
  finishReason: "STOP",
  usage: GEMINI_USAGE,
});
const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Say hello" }] };
const chatCost = 9n * 500n + 4n * 3_000n;

test.each([
  {
    what: "svc-3-flash answers by Gemini, billed by its count",
    path: "/chat/completions",
    body: chat,
    from: () => geminiJson(whole),
    asked: [gemini("gemini-3-flash-preview", "generateContent")],
    answered: { choices: [{ message: { content: "Hello there." }, finish_reason: "stop" }] },
    billed: { provider: "google", units: { input: 9, output: 4 }, charged: chatCost },
  },
  {
    what: "svc-embedding-2 embeds by Gemini, billed by its count",
    path: "/embeddings",
    body: { model: "svc-embedding-2", input: "a river" },
    from: () => geminiJson({ embedding: { values }, usageMetadata: { promptTokenCount: 5 } }),
    asked: [gemini("gemini-embedding-2", "embedContent")],
    answered: { usage: { prompt_tokens: 5, total_tokens: 5 } },
    billed: { units: { input: 5 }, charged: 5n * 200n },
  },
  {
    what: "multimodal-embedding-1 embeds images, each billed as one",
    path: "/embeddings",
    body: { model: "multimodal-embedding-1", input: [image, image] },
    from: () => imagePrediction([0.6, 0.8]),
    asked: [mediaPath, mediaPath],
    answered: {
      data: [{ embedding: [0.6, 0.8] }, { embedding: [0.6, 0.8] }],
      usage: { images: 2 },
    },
    billed: { units: { image: 2 }, charged: 200_000n },
  },
  {
    what: "multimodal-embedding-1 embeds a video, billed by whole seconds",
    path: "/embeddings",
    body: { model: "multimodal-embedding-1", input: video },
    from: () => videoPrediction([[0.6, 0.8]]),
    asked: [mediaPath],
    answered: { data: [{ embedding: [0.6, 0.8] }], usage: { video_seconds: 3 } },
    billed: { units: { video_second: 3 }, charged: 1_500_000n },
  },
])("$what", async ({ path, body, from, asked, answered, billed }) => {
  reply = from;
  const response = await payer.call(path, body);
  expect(await response.json()).toMatchObject(answered);
  expect(calls().map((request) => decodeURIComponent(request.path))).toEqual([...asked]);
  for (const { headers, path: place } of calls())
    if (place.startsWith("/v1/gemini/")) expect(headers["x-goog-api-key"]).toBe(geminiKey);
    else expect(headers["authorization"]).toBe("Bearer token-of-the-account");
  const receipt = await payer.receipt();
  expect(receipt).toMatchObject({ ...billed, estimated: false });
  expect(receipt.vendorCost).toBe(receipt.charged);
});

test("svc-3-flash is served by Vertex AI where Gemini fails, for one charge", async () => {
  const overloaded = { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." };
  reply = ({ path }) =>
    path.startsWith("/v1/gemini/") ? geminiJson(geminiError(overloaded), 503) : geminiJson(whole);
  expect((await payer.call("/chat/completions", chat)).status).toBe(200);
  const last = calls().at(-1);
  expect(last?.path).toBe(vertex("global", "gemini-3-flash-preview", "generateContent"));
  expect(last?.headers["authorization"]).toBe("Bearer token-of-the-account");
  const { provider, attempts, charged } = await payer.receipt();
  expect({ provider, charged }).toEqual({ provider: "vertex-global", charged: chatCost });
  expect(attempts).toContain("google/gemini-3-flash-preview");
  expect(attempts).toContain("vertex-global/gemini-3-flash-preview");
});

test.each([
  ["svc-2.5-flash-tts", "gemini-3.8-flash-lite-tts", 6n * 1_000n + 30n * 12_000n],
  ["svc-2.5-pro-tts", "gemini-3.8-flash-tts", 6n * 1_000n + 30n * 18_000n],
] as const)("speech of %s by %s is wav by the vendor's voice and its own count", async (...row) => {
  const [model, upstream, charged] = row;
  const usage = {
    promptTokenCount: 6,
    candidatesTokenCount: 30,
    totalTokenCount: 36,
    candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 30 }],
  };
  const spoken = geminiAudio({ bytes: tone(1), finishReason: "STOP", usage });
  reply = ({ path }) =>
    path.includes(":stream") ? geminiStream([geminiEvent(spoken)]) : geminiJson(spoken);
  const asked = { model, input: "Hello there.", voice: "Fenrir" };
  const response = await payer.call("/audio/speech", asked);
  expect(response.headers.get("content-type")).toBe("audio/wav");
  const audio = Buffer.from(await response.arrayBuffer());
  expect(audio.subarray(0, 4).toString()).toBe("RIFF");
  expect(audio.subarray(-tone(1).length).equals(tone(1))).toBe(true);
  const [request] = calls();
  expect(request?.path).toStartWith(`/v1/gemini/models/${upstream}:`);
  expect(request?.body.toString()).toContain('"voiceName":"Fenrir"');
  // A second: by our own count it would be 25.
  const units = { input: 6, audio_output: 30 };
  expect(await payer.receipt()).toMatchObject({ units, charged, estimated: false });
});
