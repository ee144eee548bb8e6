import { expect, test } from "bun:test";
import { cover, floorTokens, type Need, worstCase } from "./need.ts";

const million = 1_000_000n;
/** 2,000 nano for what is known, 10 nano a token of the answer: 12,000 in all. */
const need: Need = {
  units: { input: 2_000, choices: 1 },
  fixed: 2_000n * million,
  perToken: 10n * million,
  cap: 1_000,
  isCapNamed: false,
};

test("the worst case is rounded up once, as a receipt is", () => {
  expect(worstCase(need, 1_000)).toBe(12_000n);
  expect(worstCase({ ...need, fixed: 2_000n * million + 1n }, 1_000)).toBe(12_001n);
  expect(worstCase({ ...need, fixed: 1n, perToken: 1n }, 999_999)).toBe(1n);
  expect(worstCase({ ...need, fixed: 2n, perToken: 1n }, 999_999)).toBe(2n);
  expect(worstCase({ ...need, fixed: 0n, perToken: 0n }, 1_000)).toBe(0n);
});

test("a worst case that is covered to the last nano is held whole", () => {
  expect(cover(need, 12_000n)).toEqual({ nano: 12_000n, cap: 1_000 });
  expect(cover({ ...need, isCapNamed: true }, 12_000n)).toEqual({ nano: 12_000n, cap: 1_000 });
  expect(cover({ ...need, fixed: 0n, perToken: 0n }, 0n)).toEqual({ nano: 0n, cap: 1_000 });
});

test("a nano short, a cap that the caller named is his word", () => {
  expect(cover({ ...need, isCapNamed: true }, 11_999n)).toBeUndefined();
});

test("a nano short, an answer without a named cap becomes what half of the free money pays for", () => {
  // Half of 11,999 is 5,999, of which 2,000 are spoken for.
  expect(cover(need, 11_999n)).toEqual({ nano: 5_990n, cap: 399 });
  const free = 11_998n;
  expect((cover(need, free)?.nano ?? free) * 2n <= free).toBe(true);
});

test("no answer is cut below the floor, which may take all that is free", () => {
  const floor = worstCase(need, floorTokens);
  expect(floor).toBe(4_560n);
  expect(cover(need, floor)).toEqual({ nano: floor, cap: floorTokens });
  expect(cover(need, 2n * floor - 2n)).toEqual({ nano: floor, cap: floorTokens });
  expect(cover(need, 2n * floor + 20n)).toEqual({ nano: floor + 10n, cap: floorTokens + 1 });
  expect(cover(need, floor - 1n)).toBeUndefined();
  expect(cover(need, 0n)).toBeUndefined();
  expect(cover(need, -5n)).toBeUndefined();
});

test("an answer that is short already is not made longer", () => {
  for (const cap of [floorTokens, 10])
    expect(cover({ ...need, cap }, worstCase(need, cap) - 1n)).toBeUndefined();
  const barely = { ...need, cap: floorTokens + 1 };
  expect(cover(barely, worstCase(need, floorTokens))?.cap).toBe(floorTokens);
});

test("where the answer costs nothing, a shorter one does not help", () => {
  expect(cover({ ...need, perToken: 0n }, 1_999n)).toBeUndefined();
});
