import { describe, expect, test } from "bun:test";
import { isHollow, latestUsage, toTokenUnits, type Usage } from "./usage.ts";

const usage = (fields: Partial<Usage> = {}): Usage => ({
  inputTokens: 10,
  outputTokens: 3,
  estimated: false,
  ...fields,
});

describe("every token is in one class", () => {
  const cases = [
    { cached: undefined, written: undefined, units: [10, 0, 0] },
    { cached: 4, written: undefined, units: [6, 4, 0] },
    { cached: undefined, written: 4, units: [6, 0, 4] },
    { cached: 3, written: 4, units: [3, 3, 4] },
    { cached: 8, written: 9, units: [0, 8, 2] },
    { cached: 50, written: 50, units: [0, 10, 0] },
    { cached: 0, written: 50, units: [0, 0, 10] },
  ] as const;
  for (const { cached, written, units } of cases)
    test(`of 10, ${cached} read from a cache and ${written} written to it are ${units.join("/")}`, () => {
      const [input, fromCache, toCache] = units;
      expect(toTokenUnits(usage({ cachedInputTokens: cached, cacheWriteTokens: written }))).toEqual(
        {
          input,
          cached_input: fromCache,
          cache_write: toCache,
          output: 3,
        },
      );
    });

  test("reasoning is part of the output, and no class of its own", () => {
    expect(toTokenUnits(usage({ outputTokens: 7, reasoningTokens: 5 }))).toMatchObject({
      input: 10,
      output: 7,
    });
  });
});

describe("of several counts", () => {
  const first = usage({
    inputTokens: 10,
    cachedInputTokens: 4,
    cacheWriteTokens: 2,
    outputTokens: 3,
    reasoningTokens: 1,
  });

  test("the only one counts as it is", () => {
    expect(latestUsage(undefined, first)).toEqual(first);
    const nothing = usage({ inputTokens: 0, outputTokens: 0 });
    expect(latestUsage(undefined, nothing)).toEqual(nothing);
  });

  test("the last one counts, not the sum and not the largest", () => {
    const last = usage({
      inputTokens: 9,
      cachedInputTokens: 5,
      cacheWriteTokens: 1,
      outputTokens: 2,
      reasoningTokens: 0,
    });
    expect(latestUsage(first, last)).toEqual(last);
  });

  test("what the last one leaves open of a side that it counts is open", () => {
    expect(latestUsage(first, usage({ inputTokens: 11, outputTokens: 5 }))).toEqual(
      usage({
        inputTokens: 11,
        outputTokens: 5,
        cachedInputTokens: undefined,
        cacheWriteTokens: undefined,
        reasoningTokens: undefined,
      }),
    );
  });

  test("an empty one behind another changes nothing", () => {
    expect(latestUsage(first, usage({ inputTokens: 0, outputTokens: 0 }))).toEqual(first);
  });

  test("an output alone keeps the input that was told before, with its caches", () => {
    const last = usage({ inputTokens: 0, outputTokens: 8, reasoningTokens: 6 });
    expect(latestUsage(first, last)).toEqual({ ...first, outputTokens: 8, reasoningTokens: 6 });
  });

  test("an input alone keeps the output that was told before, with its reasoning", () => {
    const last = usage({ inputTokens: 12, cachedInputTokens: 7, outputTokens: 0 });
    expect(latestUsage(first, last)).toEqual({
      ...first,
      inputTokens: 12,
      cachedInputTokens: 7,
      cacheWriteTokens: undefined,
    });
  });

  test("an input first and an output last are one whole", () => {
    const input = usage({ outputTokens: 0, cachedInputTokens: 4 });
    const output = usage({ inputTokens: 0, outputTokens: 5 });
    expect(toTokenUnits(latestUsage(input, output))).toEqual({
      input: 6,
      cached_input: 4,
      cache_write: 0,
      output: 5,
    });
  });

  test("the last one says whether it is an estimate", () => {
    expect(latestUsage(first, usage({ estimated: true })).estimated).toBe(true);
    expect(latestUsage(usage({ estimated: true }), first).estimated).toBe(false);
  });
});

describe("a count is none", () => {
  for (const { input, output, said, hollow } of [
    { input: 0, output: 0, said: true, hollow: true },
    { input: 0, output: 0, said: false, hollow: true },
    { input: 0, output: 3, said: true, hollow: true },
    { input: 10, output: 0, said: true, hollow: true },
    { input: 10, output: 0, said: false, hollow: false },
    { input: 10, output: 3, said: true, hollow: false },
  ])
    test(`${hollow ? "" : "not "}with ${input} read and ${output} said, where ${said ? "something" : "nothing"} was said`, () => {
      expect(isHollow(usage({ inputTokens: input, outputTokens: output }), said)).toBe(hollow);
    });
});
