import { expect, test } from "bun:test";
import { niceTicks, stack, timeLabels, topOf } from "./chart-scale.ts";

const point = (at: string, values: Record<string, number | null>) => ({ at, values });

test.each([0.00037, 0.9, 1, 3, 17, 99, 101, 2_500, 987_654])(
  "ticks up to %p are round, begin at 0 and reach it",
  (top) => {
    const ticks = niceTicks(top, 4);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(top);
    expect(ticks.at(-2)).toBeLessThan(top);
    expect(ticks.length).toBeLessThanOrEqual(6);
    const step = ticks[1] ?? 0;
    expect([1, 2, 2.5, 5]).toContain(Number(step.toExponential(3).split("e")[0]));
  },
);

test("an empty chart still has an axis", () => {
  expect(niceTicks(0, 4)).toEqual([0, 1]);
  expect(topOf({ points: [], keys: ["a"], isStacked: true })).toBe(0);
});

test("stacked series begin where the one below ends; a gap is nothing", () => {
  const points = [point("1", { a: 2, b: 3 }), point("2", { a: null, b: 4 })];
  expect(stack(points, ["a", "b"])).toEqual([
    [
      { from: 0, to: 2 },
      { from: 0, to: 0 },
    ],
    [
      { from: 2, to: 5 },
      { from: 0, to: 4 },
    ],
  ]);
  expect(topOf({ points, keys: ["a", "b"], isStacked: true })).toBe(5);
  expect(topOf({ points, keys: ["a", "b"], isStacked: false })).toBe(4);
});

test("days are named in UTC, in which they are counted", () => {
  const days = [point("2026-03-01T00:00:00Z", {}), point("2026-03-02T00:00:00Z", {})];
  const { axis, full } = timeLabels(days);
  expect(axis("2026-03-01T00:00:00Z")).toBe("Mar 1");
  expect(full("2026-03-02T00:00:00Z")).toContain("Mon, Mar 2, 2026");
});
