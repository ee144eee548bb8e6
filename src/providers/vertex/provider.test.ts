import { expect, test } from "bun:test";
import { publisherModels, vertexRefusals } from "../../../test/fake/vendors/vertex-replies.ts";
import { embed, errorOf, VertexScene } from "../../../test/fake/vendors/vertex-scene.ts";

const scene = new VertexScene();
const never = new AbortController().signal;
const chat = {
  call: { messages: [{ role: "user", content: "hello" }], maxOutputTokens: 7, options: {} },
  target: { model: "gemini-2.5-flash" },
  signal: never,
  onAccepted: () => {},
};

test("a key is sent instead of a token, in a header, without a sign-in", async () => {
  await embed(scene.provider({}, { apiKey: "AQ.key-of-the-operator" }));
  expect(scene.signIns).toEqual([]);
  const [call] = scene.calls;
  expect(call?.path).toBe("/v1/publishers/google/models/multimodalembedding@001:predict");
  expect(call?.headers["x-goog-api-key"]).toBe("AQ.key-of-the-operator");
  expect(call?.headers["authorization"]).toBe(undefined);
});

test("a key that is refused is the operator's affair, and not sent again", async () => {
  scene.api = vertexRefusals.endedToken();
  const error = await errorOf(embed(scene.provider({}, { apiKey: "AQ.key-of-the-operator" })));
  expect(error).toMatchObject({ code: "upstream_unavailable", upstream: { reason: "auth" } });
  expect(error.detail).not.toContain("AQ.");
  expect(scene.calls).toHaveLength(1);
});

test("a place that cannot be called is told with each call, and nothing is sent", async () => {
  const provider = scene.provider({ location: "evil.example/" });
  for (const work of [provider.chat?.(chat), provider.streamChat?.(chat), embed(provider)]) {
    const error = await errorOf(Promise.resolve(work));
    expect(error).toMatchObject({ code: "upstream_unavailable", upstream: { reason: "auth" } });
    expect(error.detail).toContain("location must be a Google Cloud location, such as us-central1");
  }
  expect(scene.upstream.requests).toEqual([]);
});

test("models are listed page by page, older ones with their version", async () => {
  scene.api = (request) =>
    request.path.includes("pageToken=more%26")
      ? publisherModels([
          { name: "multimodalembedding", versionId: "001" },
          { name: "text-embedding-005", versionId: "default" },
          { name: "veo-3", versionId: "1" },
        ])
      : publisherModels(
          [
            { name: "gemini-2.5-flash", versionId: "default" },
            { name: "gemini-2.5-flash-preview-tts", versionId: "default" },
            { name: "gemini-2.5-flash-image", versionId: "default" },
          ],
          "more&",
        );
  expect(await scene.provider().listModels?.(never)).toEqual([
    { id: "gemini-2.5-flash", endpoint: "chat" },
    { id: "gemini-2.5-flash-preview-tts", endpoint: "speech" },
    { id: "gemini-2.5-flash-image" },
    { id: "multimodalembedding@001", endpoint: "embeddings", input: "media" },
    { id: "text-embedding-005", endpoint: "embeddings", input: "text" },
    { id: "veo-3" },
  ]);
  expect(scene.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1beta1/publishers/google/models?pageSize=100",
    "GET /v1beta1/publishers/google/models?pageSize=100&pageToken=more%26",
  ]);
});

test("a list whose pages never end is left", async () => {
  scene.api = publisherModels([{ name: "gemini-2.5-flash", versionId: "default" }], "again");
  expect(await scene.provider().listModels?.(never)).toHaveLength(1);
  expect(scene.calls).toHaveLength(20);
});
