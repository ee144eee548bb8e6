import { expect, test } from "bun:test";
import { colorScale, toFigure } from "./similarity.ts";

test("colors reach from the furthest pair to the nearest, whatever the model's range", () => {
  const strength = colorScale([
    [1, 0.7, 0.8],
    [0.7, 1, 0.9],
    [0.8, 0.9, 1],
  ]);
  expect(strength(0.7)).toBe(0);
  expect(strength(0.9)).toBe(1);
  expect(strength(0.8)).toBeCloseTo(0.5);
  expect(
    colorScale([
      [1, 0.4],
      [0.4, 1],
    ])(0.4),
  ).toBe(0.5);
});

test("what is below zero has a real minus", () => {
  expect(toFigure(-0.042, 2)).toBe("−0.04");
});
