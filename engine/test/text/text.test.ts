import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Model, TextJob, TextResult } from "../../contract.ts";
import { loadText } from "../../text/text.ts";
import { weightsDir } from "../weights/weights-dir.ts";

setDefaultTimeout(600_000);

let model: Model<TextJob, never, TextResult>;
beforeAll(async () => {
  model = await loadText({ dir: await weightsDir("text") });
});

const never = { signal: new AbortController().signal, emit: () => {} };
const embed = (texts: readonly string[], dimensions = 3072) =>
  model.run({ texts, dimensions }, never);
const empty: Float32Array = new Float32Array();
const cosine = (left = empty, right = empty) =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);

test("related sentences beat unrelated ones by a margin, in all three sizes", async () => {
  const texts = [
    "A cat sleeps on the warm windowsill.",
    "The kitten is napping by the window.",
    "The central bank raised interest rates.",
    "Borrowing got dearer after the monetary decision.",
  ];
  for (const dimensions of [768, 1536, 3072]) {
    const { vectors } = await embed(texts, dimensions);
    const related = Math.min(cosine(vectors[0], vectors[1]), cosine(vectors[2], vectors[3]));
    const unrelated = Math.max(
      cosine(vectors[0], vectors[2]),
      cosine(vectors[0], vectors[3]),
      cosine(vectors[1], vectors[2]),
      cosine(vectors[1], vectors[3]),
    );
    expect(related).toBeGreaterThan(unrelated + 0.3);
    for (const vector of vectors) {
      expect(vector).toHaveLength(dimensions);
      expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    }
  }
});

test("a text's vector does not depend on its neighbors", async () => {
  const alone = await embed(["The sea is calm."]);
  const among = await embed(["Stock prices fell.", "The sea is calm.", "x".repeat(2000)]);
  expect(among.vectors[1]).toEqual(alone.vectors[0] ?? new Float32Array());
});

test("tokens are the model's own, and a long text is cut at its limit and counted as cut", async () => {
  expect((await embed(["Hello world"])).tokens).toBe(4);
  const limit = await embed(["word ".repeat(254)]);
  const beyond = await embed(["word ".repeat(5_000)]);
  expect(limit.tokens).toBe(256);
  expect(beyond.tokens).toBe(256);
  expect(beyond.vectors[0]).toEqual(limit.vectors[0] ?? new Float32Array());
});

test("a hundred texts, empty and strange ones among them, each get a vector", async () => {
  const texts = Array.from(
    { length: 100 },
    (_, at) => ["", "🙂", "\u0000", "مرحبا"][at] ?? `text ${at}`,
  );
  const { vectors } = await embed(texts, 768);
  expect(vectors).toHaveLength(100);
  for (const vector of vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
});

test("stops between texts when the caller has left", async () => {
  const controller = new AbortController();
  controller.abort(new Error("left"));
  await expect(
    model.run({ texts: ["a", "b"], dimensions: 768 }, { ...never, signal: controller.signal }),
  ).rejects.toThrow("left");
});
