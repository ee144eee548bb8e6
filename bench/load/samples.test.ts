import { expect, test } from "bun:test";
import { Samples } from "./samples.ts";

test("times are summed up whatever order they came in", () => {
  const samples = new Samples();
  for (let value = 200; value >= 1; value--) samples.add(value);
  expect(samples.sumUp()).toEqual({ count: 200, p50: 101, p99: 199, max: 200 });
  expect(samples.countOver(190)).toBe(10);
});

test("after clear nothing of before is left", () => {
  const samples = new Samples();
  samples.add(5);
  samples.clear();
  expect(samples.sumUp()).toEqual({ count: 0, p50: 0, p99: 0, max: 0 });
});
