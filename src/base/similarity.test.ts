import { expect, test } from "bun:test";
import { cosine, rankedPairs, similarities } from "./similarity.ts";

test("the cosine looks at the direction and not at the length", () => {
  expect(cosine([1, 0], [5, 0])).toBeCloseTo(1);
  expect(cosine([1, 0], [0, 3])).toBeCloseTo(0);
  expect(cosine([1, 2], [-2, -4])).toBeCloseTo(-1);
  expect(cosine([3, 4], [4, 3])).toBeCloseTo(24 / 25);
  expect(cosine([0, 0], [1, 1])).toBe(0);
});

test("pairs come once each, the nearest first", () => {
  const matrix = similarities([
    [1, 0],
    [0, 1],
    [1, 0.1],
  ]);
  expect(rankedPairs(matrix).map(({ one, other }) => [one, other])).toEqual([
    [0, 2],
    [1, 2],
    [0, 1],
  ]);
});
