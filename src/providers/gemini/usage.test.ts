import { expect, test } from "bun:test";
import { fromUsageMetadata } from "./usage.ts";

const outputOf = (counts: Record<string, number>) => fromUsageMetadata(counts)?.outputTokens;

test("thoughts beside the answer are paid for with it", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 100 };
  expect(outputOf({ ...told, totalTokenCount: 115 })).toBe(105);
  expect(outputOf(told)).toBe(105);
});

test("thoughts that are in the answer already, which the total tells, are not paid for twice", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 105, thoughtsTokenCount: 100 };
  expect(outputOf({ ...told, totalTokenCount: 115 })).toBe(105);
  expect(outputOf({ ...told, thoughtsTokenCount: 105, totalTokenCount: 115 })).toBe(105);
});

test("more thoughts than answer cannot be in it, whatever the total tells", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 100 };
  expect(fromUsageMetadata({ ...told, totalTokenCount: 15 })).toMatchObject({
    inputTokens: 10,
    outputTokens: 105,
    reasoningTokens: 100,
  });
});

test("an answer that ended without a word is counted by its prompt alone", () => {
  const told = { promptTokenCount: 10, totalTokenCount: 10 };
  expect(fromUsageMetadata(told, true)).toMatchObject({
    inputTokens: 10,
    outputTokens: 0,
    estimated: false,
  });
  expect(fromUsageMetadata(told)).toBeUndefined();
});
