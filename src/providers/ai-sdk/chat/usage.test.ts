import { expect, test } from "bun:test";
import { fromAiSdkUsage } from "./usage.ts";

const known = { estimated: false, cachedInputTokens: undefined, cacheWriteTokens: undefined };

test("half a count, or one of nothing, is none", () => {
  const half = (input: unknown, output: unknown) =>
    fromAiSdkUsage({ inputTokens: { total: input }, outputTokens: { total: output } });
  for (const [input, output] of [
    [undefined, 5],
    [5, undefined],
    [0, 5],
    [5, 0],
    [Number.NaN, 5],
    [-1, 5],
    [1.5, 5],
    [1e15, 5],
    ["5", 5],
  ])
    expect(half(input, output)).toBeUndefined();
  expect(half(5, 5)).toEqual({
    ...known,
    inputTokens: 5,
    outputTokens: 5,
    reasoningTokens: undefined,
  });
  for (const none of [undefined, null, 7, []]) expect(fromAiSdkUsage(none)).toBeUndefined();
});
