import { expect, test } from "bun:test";
import { seededRandom } from "../../../../test/fixtures/media/fixture.ts";
import { toEmbeddingsReply } from "./reply.ts";

const usage = { prompt_tokens: 1, total_tokens: 1 };

function vectorsOf(text: string): readonly unknown[] {
  const { data } = JSON.parse(text) as {
    readonly data: readonly { readonly embedding: unknown }[];
  };
  return data.map(({ embedding }) => embedding);
}

test("0.5 and -2 are these eight little-endian bytes", () => {
  const text = toEmbeddingsReply({ model: "m", vectors: [[0.5, -2]], encoding: "base64", usage });
  expect(vectorsOf(text)).toEqual([Buffer.from("0000003f000000c0", "hex").toString("base64")]);
});

test("float32 values survive both encodings and the way back, bit for bit", () => {
  const random = seededRandom(7);
  const numbers = Array.from({ length: 3072 }, () =>
    Math.fround((random(2 ** 32) - 2 ** 31) / 7e9),
  );
  const to = (encoding: "float" | "base64", vector: readonly number[] | string) =>
    vectorsOf(toEmbeddingsReply({ model: "m", vectors: [vector], encoding, usage }))[0];
  const base64 = to("base64", numbers) as string;
  expect(to("float", base64)).toEqual(numbers);
  expect(to("base64", base64)).toBe(base64);
  expect(to("float", numbers)).toEqual(numbers);
});

test("vectors are numbered in their order, and usage is passed as it is", () => {
  const text = toEmbeddingsReply({
    model: "m",
    vectors: [[1], [2]],
    encoding: "float",
    usage: { prompt_tokens: 0, total_tokens: 0, images: 2 },
  });
  expect(JSON.parse(text)).toEqual({
    object: "list",
    model: "m",
    data: [
      { object: "embedding", index: 0, embedding: [1] },
      { object: "embedding", index: 1, embedding: [2] },
    ],
    usage: { prompt_tokens: 0, total_tokens: 0, images: 2 },
  });
});
