import { expect, test } from "bun:test";
import { toCount } from "./count.ts";

test("nothing is a count, and so is the most that a call can use", () => {
  expect([0, 1, 100_000_000].map(toCount)).toEqual([0, 1, 100_000_000]);
});

test("what is no count is unknown, and never nothing", () => {
  for (const value of [-1, 100_000_001, 1.5, Number.NaN, "1", null, undefined, {}])
    expect(toCount(value)).toBeUndefined();
});
