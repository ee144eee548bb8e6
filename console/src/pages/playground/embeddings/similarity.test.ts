import { expect, test } from "bun:test";
import { colourScale, cosine, rankedPairs, similarities, toFigure } from "./similarity.ts";

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

test("colours reach from the furthest pair to the nearest, whatever the model's range", () => {
  const strength = colourScale([
    [1, 0.7, 0.8],
    [0.7, 1, 0.9],
    [0.8, 0.9, 1],
  ]);
  expect(strength(0.7)).toBe(0);
  expect(strength(0.9)).toBe(1);
  expect(strength(0.8)).toBeCloseTo(0.5);
  expect(
    colourScale([
      [1, 0.4],
      [0.4, 1],
    ])(0.4),
  ).toBe(0.5);
});

test("what is below zero has a real minus", () => {
  expect(toFigure(-0.042, 2)).toBe("−0.04");
});
