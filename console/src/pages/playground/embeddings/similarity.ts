import { rankedPairs } from "../../../../../src/base/similarity.ts";

/**
 * How strong the color of a value is, 0 to 1. Models differ in how near all things are to each
 * other, so the colors reach from the lowest value there is to the highest of two things.
 */
export function colorScale(matrix: readonly (readonly number[])[]): (value: number) => number {
  const values = rankedPairs(matrix).map(({ similarity }) => similarity);
  const low = Math.min(...values);
  const span = Math.max(...values) - low;
  return (value) => (span <= 0 ? 0.5 : Math.min(1, Math.max(0, (value - low) / span)));
}

/** With a real minus, as wide as a plus. */
export const toFigure = (value: number, digits: number) => value.toFixed(digits).replace("-", "−");
