import { describe, expect, test } from "bun:test";
import { fromOpenAiUsage } from "./usage.ts";

test("output that is not told is what the total leaves", () => {
  expect(fromOpenAiUsage({ prompt_tokens: 5, total_tokens: 12 })?.outputTokens).toBe(7);
  // A total that is less than its part is none.
  expect(fromOpenAiUsage({ prompt_tokens: 10, total_tokens: 4 })).toBeUndefined();
  // Half a count would make the answer free; vectors have no output to tell.
  expect(fromOpenAiUsage({ prompt_tokens: 5 })).toBeUndefined();
  expect(fromOpenAiUsage({ prompt_tokens: 5 }, 0)?.outputTokens).toBe(0);
});

test("what cannot be relied on is no usage at all", () => {
  for (const usage of [null, 7, "5", [], {}, [19, 10]])
    expect(fromOpenAiUsage(usage)).toBeUndefined();
  for (const count of ["5", -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, 1e15]) {
    expect(fromOpenAiUsage({ prompt_tokens: count, completion_tokens: 1 })).toBeUndefined();
    expect(fromOpenAiUsage({ prompt_tokens: 1, completion_tokens: count })).toBeUndefined();
  }
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

describe("a total beyond its parts", () => {
  const of = (usage: object) => {
    const read = fromOpenAiUsage(usage);
    return [read?.inputTokens, read?.outputTokens];
  };

  test("is output: reasoning that completion_tokens leave out", () => {
    expect(of({ prompt_tokens: 12, completion_tokens: 2, total_tokens: 354 })).toEqual([12, 342]);
  });

  test("is input where more came from caches than the prompt has", () => {
    const prompt_tokens_details = { cached_tokens: 900 };
    const counts = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details };
    expect(of({ ...counts, total_tokens: 915 })).toEqual([910, 5]);
    // What is left then is output.
    expect(of({ ...counts, total_tokens: 935 })).toEqual([910, 25]);
    // Without a total that says so, the prompt is what it says.
    expect(of({ ...counts, total_tokens: 15 })).toEqual([10, 5]);
  });

  test("is input where it holds sound", () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5 };
    expect(of({ ...counts, total_tokens: 900, prompt_audio_seconds: 3.5 })).toEqual([895, 5]);
  });

  test("is output if the vendor reports more reasoning than output, whatever its cached tokens", () => {
    const told = {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 5_110,
      prompt_tokens_details: { cached_tokens: 5_000 },
      completion_tokens_details: { reasoning_tokens: 5_000 },
    };
    expect(of(told)).toEqual([100, 5_010]);
  });

  test("is input where it is just what was read from caches", () => {
    const prompt_tokens_details = { cached_tokens: 5_000 };
    const counts = { prompt_tokens: 6_000, completion_tokens: 5, prompt_tokens_details };
    expect(of({ ...counts, total_tokens: 11_005 })).toEqual([11_000, 5]);
  });

  test("is neither where it is less than its parts, or no count", () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5 };
    for (const total_tokens of [0, 14, -1, 1e15, "900", null])
      expect(of({ ...counts, total_tokens })).toEqual([10, 5]);
  });

  test("is not added to reasoning that is counted apart", () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5, reasoning_tokens: 70 };
    expect(of({ ...counts, total_tokens: 15 })).toEqual([10, 75]);
    expect(of({ ...counts, total_tokens: 85 })).toEqual([10, 75]);
    // Of research, it is always apart.
    const research = { ...counts, reasoning_tokens: 4, total_tokens: 15, citation_tokens: 9 };
    expect(of(research)).toEqual([10, 9]);
    // No more than the answer: it is part of it.
    expect(of({ ...counts, reasoning_tokens: 4, total_tokens: 15 })).toEqual([10, 5]);
  });
});

describe("cached input", () => {
  for (const [where, usage] of [
    ["prompt_tokens_details", { prompt_tokens_details: { cached_tokens: 8 } }],
    ["prompt_token_details", { prompt_token_details: { cached_tokens: 8 } }],
    ["num_cached_tokens", { num_cached_tokens: 8 }],
    ["cached_tokens", { cached_tokens: 8 }],
    ["prompt_cache_hit_tokens", { prompt_cache_hit_tokens: 8 }],
    ["a second place", { cached_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } }],
  ] as const)
    test(`is read from ${where}`, () => {
      const counts = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };
      expect(fromOpenAiUsage({ ...counts, ...usage })?.cachedInputTokens).toBe(8);
    });

  test("that was written is read by either name", () => {
    const counts = { prompt_tokens: 19, completion_tokens: 10 };
    for (const name of ["cache_write_tokens", "cache_creation_input_tokens"])
      expect(
        fromOpenAiUsage({ ...counts, prompt_tokens_details: { [name]: 7 } })?.cacheWriteTokens,
      ).toBe(7);
  });
});

test("counts of sound and of predictions are shown, others are not", () => {
  const usage = fromOpenAiUsage({
    prompt_tokens: 19,
    completion_tokens: 10,
    prompt_tokens_details: { audio_tokens: 3, text_tokens: 16 },
    completion_tokens_details: { accepted_prediction_tokens: 4, rejected_prediction_tokens: "x" },
  });
  expect([usage?.inputDetails, usage?.outputDetails]).toEqual([
    { audio_tokens: 3 },
    { accepted_prediction_tokens: 4 },
  ]);
});
