import { expect, test } from "bun:test";
import { createLift } from "./lift.ts";

const size = 384;
const lift = createLift(size);
/** A fixed vector that is different for every seed. */
const vectorOf = (seed: number) =>
  Float32Array.from({ length: size }, (_, at) => Math.sin((at + 1) * (seed + 1.7) * 12.9898));
const dot = (left: Float32Array, right: Float32Array) =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
const cosine = (left: Float32Array, right: Float32Array) =>
  dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));

test("keeps every cosine in all three sizes, at unit length", () => {
  for (const dimensions of [768, 1536, 3072])
    for (let seed = 0; seed < 5; seed++) {
      const [left, right] = [vectorOf(seed), vectorOf(seed + 1)];
      const [leftLifted, rightLifted] = [lift(left, dimensions), lift(right, dimensions)];
      expect(leftLifted).toHaveLength(dimensions);
      expect(dot(leftLifted, leftLifted)).toBeCloseTo(1, 5);
      expect(cosine(leftLifted, rightLifted)).toBeCloseTo(cosine(left, right), 5);
    }
});

test("a shorter vector is the beginning of the longer one, brought to unit length", () => {
  const whole = lift(vectorOf(3), 3072);
  for (const dimensions of [768, 1536]) {
    const start = whole.slice(0, dimensions);
    expect(cosine(start, lift(vectorOf(3), dimensions))).toBeCloseTo(1, 6);
  }
});

test("no part of the vector is empty or a copy of another", () => {
  const whole = lift(vectorOf(1), 3072);
  const blocks = Array.from({ length: 8 }, (_, at) => whole.slice(at * size, (at + 1) * size));
  for (const [at, block] of blocks.entries()) {
    expect(dot(block, block)).toBeCloseTo(1 / 8, 5);
    for (const other of blocks.slice(at + 1))
      expect(Math.abs(cosine(block, other))).toBeLessThan(0.3);
  }
});

// Worked out apart from this code, from the rule as it is written: xorshift signs, then the cosine
// transform. Stored vectors rest on these values, so no later one may take their place.
test.each([
  [0, 0.010597904],
  [383, 0.008082706],
  [384, -0.007797245],
  [1000, 0.010163937],
  [2222, -0.01424556],
  [3071, 0.019919865],
])("component %d of a fixed vector is what it has always been", (at, value) => {
  expect(lift(vectorOf(2), 3072)[at]).toBeCloseTo(value, 6);
});

test("refuses sizes that it cannot fill", () => {
  expect(() => lift(vectorOf(1), 1000)).toThrow(RangeError);
  expect(() => lift(new Float32Array(10), 768)).toThrow(RangeError);
});
