import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { jsonReply } from "../../../test/fake/http/reply.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../test/fake/upstream.ts";
import {
  geminiAudio,
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../../test/fake/vendors/gemini-replies.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import { Dialer } from "../kit/dial.ts";
import { createGeminiProvider } from "./provider.ts";

let vendor: FakeUpstream;
let provider: Required<Provider>;

beforeAll(async () => {
  vendor = await startFakeUpstream();
  provider = createGeminiProvider({
    name: "up",
    baseUrl: `${new URL(vendor.baseUrl).origin}/v1beta/`,
    apiKey: "the-key",
    dialer: new Dialer({ provider: "up", allowPrivate: true }),
  }) as Required<Provider>;
});
afterAll(() => vendor.stop());
beforeEach(() => vendor.reset());

const withCall = <T>(call: T, model: string): ProviderCall<T> => ({
  call,
  target: { model },
  signal: new AbortController().signal,
  onAccepted: () => {},
});
const chat = {
  messages: [{ role: "user", content: "Hi" }],
  maxOutputTokens: undefined,
  options: {},
};

test("a model is asked by its name, with or without the vendor's folder, and the key never in the address", async () => {
  vendor.replyWith(geminiJson(geminiReply({ parts: [{ text: "a" }], finishReason: "STOP" })));
  for (const model of ["gemini-3-flash", "models/gemini-3-flash", "../odd model"])
    await provider.chat(withCall(chat, model));
  expect(vendor.requests.map(({ path }) => path)).toEqual([
    "/v1beta/models/gemini-3-flash:generateContent",
    "/v1beta/models/gemini-3-flash:generateContent",
    "/v1beta/models/..%2Fodd%20model:generateContent",
  ]);
  expect(vendor.requests.map(({ headers }) => headers["x-goog-api-key"])).toEqual(
    Array(3).fill("the-key"),
  );
});

test("calls go back with the ids that they came with", async () => {
  vendor.replyWith(geminiJson(geminiReply({ parts: [{ text: "a" }], finishReason: "STOP" })));
  const called = { id: "x7", function: { name: "f", arguments: "{}" } };
  const messages = [{ role: "assistant", content: null, tool_calls: [called] }];
  await provider.chat(withCall({ ...chat, messages }, "gemini-3-flash"));
  expect(vendor.requests[0]?.body).toContain('"id":"x7"');
});

test("vectors are asked for by the vendor's names, and come back in the order of the texts", async () => {
  vendor.replyOnce(geminiJson({ embeddings: [{ values: [1, 0] }, { values: [0, 2] }] }));
  const input = { kind: "texts", texts: ["a", "b"] } as const;
  const call = { input, dimensions: 768, encoding: "base64" } as const;
  const { vectors, usage } = await provider.embed(withCall(call, "gemini-embedding-001"));
  expect(vectors).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(usage).toBeUndefined();
  const [request] = vendor.requests;
  expect(request?.path).toBe("/v1beta/models/gemini-embedding-001:batchEmbedContents");
  expect(request?.json).toMatchObject({ requests: [{ outputDimensionality: 768 }, {}] });
  vendor.replyOnce(geminiJson({ embedding: { values: [1] } }));
  const one = { ...call, input: { kind: "texts", texts: ["a"] } } as const;
  await provider.embed(withCall(one, "models/gemini-embedding-001"));
  expect(vendor.requests[1]?.path).toBe("/v1beta/models/gemini-embedding-001:embedContent");
  expect(vendor.requests[1]?.json).toMatchObject({ model: "models/gemini-embedding-001" });
});

test("speech is heard from its first event on", async () => {
  const bytes = Uint8Array.of(1, 2);
  vendor.replyOnce(
    geminiStream([
      geminiEvent(geminiAudio({ bytes })),
      geminiEvent(geminiAudio({ bytes, finishReason: "STOP" })),
    ]),
  );
  const stream = await provider.speak(withCall({ text: "Hi", voice: "Puck" } as const, "tts"));
  expect(await stream.read()).toEqual(bytes);
  expect(await stream.read()).toEqual(bytes);
  expect(await stream.read()).toBeUndefined();
  expect(vendor.requests[0]?.path).toBe("/v1beta/models/tts:streamGenerateContent?alt=sse");
});

const listed = (name: string, methods: readonly string[], more = {}) => ({
  name: `models/${name}`,
  supportedGenerationMethods: methods,
  ...more,
});

test("its models are listed over all pages, with what each is for", async () => {
  vendor.replyOnce(
    geminiJson({
      models: [
        listed("gemini-3-flash", ["generateContent", "countTokens"], { outputTokenLimit: 65_536 }),
        listed("gemini-2.5-flash-preview-tts", ["generateContent"], { outputTokenLimit: 16_384 }),
      ],
      nextPageToken: "a/b=",
    }),
  );
  vendor.replyOnce(
    geminiJson({
      models: [listed("gemini-embedding-001", ["embedContent"]), listed("imagen-4", ["predict"])],
    }),
  );
  expect(await provider.listModels(new AbortController().signal)).toEqual([
    { id: "gemini-3-flash", endpoint: "chat", maxOutputTokens: 65_536 },
    { id: "gemini-2.5-flash-preview-tts", endpoint: "speech" },
    { id: "gemini-embedding-001", endpoint: "embeddings", input: "text" },
    { id: "imagen-4" },
  ]);
  expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1beta/models?pageSize=1000",
    "GET /v1beta/models?pageSize=1000&pageToken=a%2Fb%3D",
  ]);
});

test("a list that never ends is left", async () => {
  vendor.replyWith(geminiJson({ models: [], nextPageToken: "again" }));
  expect(await provider.listModels(new AbortController().signal)).toEqual([]);
  expect(vendor.requests).toHaveLength(20);
});

test("a speech model that does not stream is asked for the whole, and from then on at once", async () => {
  const bytes = Buffer.from([1, 2, 3, 4]);
  const error = { code: 400, message: "no streaming", status: "INVALID_ARGUMENT" };
  const refusal = jsonReply({ status: 400, body: { error } });
  const audio = geminiJson(geminiAudio({ bytes, finishReason: "STOP" }));
  const methods = () => vendor.requests.map(({ path }) => path.split(":")[1]);
  const speak = () => provider.speak(withCall({ text: "Hi", voice: "Kore" } as const, "whole-tts"));
  vendor.replyWith(({ path }) => (path.includes(":stream") ? refusal : audio));
  for (const due of [["streamGenerateContent?alt=sse", "generateContent"], ["generateContent"]]) {
    const before = vendor.requests.length;
    const speech = await speak();
    expect(Buffer.from((await speech.read()) ?? [])).toEqual(bytes);
    expect(await speech.read()).toBeUndefined();
    expect(methods().slice(before)).toEqual(due);
  }
});

test("a text that a speech model refuses is refused, and streaming is asked for again", async () => {
  const error = { code: 400, message: "bad voice", status: "INVALID_ARGUMENT" };
  vendor.replyWith(jsonReply({ status: 400, body: { error } }));
  const speak = () => provider.speak(withCall({ text: "Hi", voice: "Kore" } as const, "some-tts"));
  for (const due of [2, 4]) {
    await expect(speak()).rejects.toMatchObject({ code: "upstream_rejected" });
    expect(vendor.requests.length).toBe(due);
  }
});
