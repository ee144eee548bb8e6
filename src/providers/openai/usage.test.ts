import { expect, test } from "bun:test";
import { fromOpenAiUsage } from "./usage.ts";

test("counts are taken as they are, details where they are told", () => {
  expect(
    fromOpenAiUsage({
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 4 },
    }),
  ).toEqual({
    inputTokens: 19,
    outputTokens: 10,
    cachedInputTokens: 8,
    reasoningTokens: 4,
    estimated: false,
  });
});

test("output that is not told is what the total leaves", () => {
  expect(fromOpenAiUsage({ prompt_tokens: 5, total_tokens: 12 })?.outputTokens).toBe(7);
  // A total that is less than its part is none.
  expect(fromOpenAiUsage({ prompt_tokens: 10, total_tokens: 4 })).toBeUndefined();
  // Half a count would make the answer free; vectors have no output to tell.
  expect(fromOpenAiUsage({ prompt_tokens: 5 })).toBeUndefined();
  expect(fromOpenAiUsage({ prompt_tokens: 5 }, 0)?.outputTokens).toBe(0);
});

test("what cannot be relied on is no usage at all", () => {
  for (const usage of [null, 7, "5", [], {}, { prompt_tokens: "5" }, { prompt_tokens: -1 }])
    expect(fromOpenAiUsage(usage)).toBeUndefined();
  for (const prompt_tokens of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])
    expect(fromOpenAiUsage({ prompt_tokens })).toBeUndefined();
});

test("broken details are unknown, not zero", () => {
  const usage = fromOpenAiUsage({
    prompt_tokens: 1,
    completion_tokens: 1,
    prompt_tokens_details: null,
    completion_tokens_details: { reasoning_tokens: "many" },
  });
  expect(usage?.cachedInputTokens).toBeUndefined();
  expect(usage?.reasoningTokens).toBeUndefined();
});
