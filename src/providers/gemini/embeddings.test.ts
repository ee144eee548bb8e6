import { expect, test } from "bun:test";
import { apiErrorIn } from "../../../test/providers/failure-of.ts";
import type { EmbedInput } from "../../call/embed.ts";
import { fromEmbedReply, toEmbedRequest } from "./embeddings.ts";

const requestOf = (input: EmbedInput, dimensions?: number) =>
  toEmbedRequest({ input, dimensions, encoding: "float" }, "models/gemini-embedding-2");

const model = "models/gemini-embedding-2";
const codeOf = (work: () => unknown) => apiErrorIn(work).code;

test("one text is asked for alone, several in a batch, each a request of its own", () => {
  expect(requestOf({ kind: "texts", texts: ["a"] }, 768)).toEqual({
    method: "embedContent",
    body: { model, content: { parts: [{ text: "a" }] }, outputDimensionality: 768 },
    expected: 1,
  });
  expect(requestOf({ kind: "texts", texts: ["a", "b"] })).toEqual({
    method: "batchEmbedContents",
    body: {
      requests: [
        { model, content: { parts: [{ text: "a" }] } },
        { model, content: { parts: [{ text: "b" }] } },
      ],
    },
    expected: 2,
  });
});

test("images and videos go along with their types", () => {
  const dataUris = ["data:image/png;base64,AAAA", "data:image/jpeg;base64,BBBB"];
  expect(requestOf({ kind: "images", dataUris }).body).toEqual({
    requests: [
      { model, content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] } },
      { model, content: { parts: [{ inlineData: { mimeType: "image/jpeg", data: "BBBB" } }] } },
    ],
  });
  const typeOf = (bytes: readonly number[]) => {
    const base64 = Buffer.from(bytes).toString("base64");
    return JSON.stringify(requestOf({ kind: "video", base64, durationS: 1 }).body);
  };
  expect(typeOf([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42])).toContain('"video/webm"');
  expect(typeOf([0, 0, 0, 0x20, 0x66, 0x74, 0x79, 0x70])).toContain('"video/mp4"');
});

test("token ids are refused: the vendor reads text", () => {
  expect(codeOf(() => requestOf({ kind: "tokens", tokens: [[1, 2]] }))).toBe("invalid_request");
});

const resultOf = (reply: unknown, expected = 1) =>
  fromEmbedReply(reply, { expected, provider: "up" });

test("shortened vectors are made whole again, whole ones stay as they are", () => {
  const { vectors, usage } = resultOf(
    { embeddings: [{ values: [3, 4] }, { values: [0.6, 0.8] }] },
    2,
  );
  expect(vectors[0]?.[0]).toBeCloseTo(0.6, 12);
  expect(vectors[0]?.[1]).toBeCloseTo(0.8, 12);
  expect(vectors[1]).toEqual([0.6, 0.8]);
  expect(usage).toBeUndefined();
  // As near to 1 as rounding leaves it.
  expect(resultOf({ embedding: { values: [0.6004, 0.8] } }).vectors).toEqual([[0.6004, 0.8]]);
});

test("tokens are told where the vendor counts them", () => {
  const reply = { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 6 } };
  expect(resultOf(reply).usage).toEqual({ inputTokens: 6, outputTokens: 0, estimated: false });
});

test("a reply that is not one vector an input is broken", () => {
  for (const reply of [
    {},
    null,
    { embeddings: [] },
    { embeddings: [{ values: [1] }, { values: [1] }] },
    { embedding: { values: [] } },
    { embedding: { values: [0, 0] } },
    { embedding: { values: ["1"] } },
    { embedding: { values: [1, null] } },
    { embedding: {} },
  ])
    expect(codeOf(() => resultOf(reply))).toBe("upstream_error");
  const uneven = { embeddings: [{ values: [1] }, { values: [0.6, 0.8] }] };
  expect(codeOf(() => resultOf(uneven, 2))).toBe("upstream_error");
});
