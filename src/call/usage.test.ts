import { describe, expect, test } from "bun:test";
import { isHollow, latestUsage, toTokenUnits, type Usage } from "./usage.ts";

const usage = (fields: Partial<Usage> = {}): Usage => ({
  inputTokens: 10,
  outputTokens: 3,
  estimated: false,
  ...fields,
});

describe("every token is in one class", () => {
  test.each([
    [undefined, undefined, 10, 0, 0],
    [4, undefined, 6, 4, 0],
    [undefined, 4, 6, 0, 4],
    [3, 4, 3, 3, 4],
    [8, 9, 0, 8, 2],
    [50, 50, 0, 10, 0],
    [0, 50, 0, 0, 10],
  ])("of 10, %p read from a cache and %p written to it are %i/%i/%i", (...row) => {
    const [cachedInputTokens, cacheWriteTokens, input, cached_input, cache_write] = row;
    const units = { input, cached_input, cache_write, output: 3 };
    expect(toTokenUnits(usage({ cachedInputTokens, cacheWriteTokens }))).toEqual(units);
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

  const open = { cacheWriteTokens: undefined, reasoningTokens: undefined };
  test.each<[string, Partial<Usage>, Partial<Usage>]>([
    [
      "what the last one leaves open of a side that it counts is open",
      { inputTokens: 11, outputTokens: 5 },
      { inputTokens: 11, outputTokens: 5, cachedInputTokens: undefined, ...open },
    ],
    ["an empty one behind another changes nothing", { inputTokens: 0, outputTokens: 0 }, {}],
    [
      "an output alone keeps the input that was told before, with its caches",
      { inputTokens: 0, outputTokens: 8, reasoningTokens: 6 },
      { outputTokens: 8, reasoningTokens: 6 },
    ],
    [
      "an input alone keeps the output that was told before, with its reasoning",
      { inputTokens: 12, cachedInputTokens: 7, outputTokens: 0 },
      { inputTokens: 12, cachedInputTokens: 7, cacheWriteTokens: undefined },
    ],
  ])("%s", (_, last, changes) => {
    expect(latestUsage(first, usage(last))).toEqual({ ...first, ...changes });
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
