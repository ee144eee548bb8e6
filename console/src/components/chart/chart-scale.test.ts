import { expect, test } from "bun:test";
import { labeledPlaces, niceTicks, stack, timeLabels, topOf } from "./chart-scale.ts";

const point = (at: string, values: Record<string, number | null>) => ({ at, values });

test.each([0.00037, 0.9, 1, 3, 17, 99, 101, 2_500, 987_654])(
  "ticks up to %p are round, begin at 0 and reach it",
  (top) => {
    const ticks = niceTicks({ top, count: 4 });
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(top);
    expect(ticks.at(-2)).toBeLessThan(top);
    expect(ticks.length).toBeLessThanOrEqual(6);
    const step = ticks[1] ?? 0;
    expect([1, 2, 2.5, 5]).toContain(Number(step.toExponential(3).split("e")[0]));
  },
);

test.each([1, 2, 3, 5, 7, 9, 10, 17, 101])("counts up to %p have whole ticks", (top) => {
  const ticks = niceTicks({ top, count: 4, isWhole: true });
  expect(ticks.filter((tick) => !Number.isInteger(tick))).toEqual([]);
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(top);
  expect(ticks.length).toBeLessThanOrEqual(6);
});

test("an empty chart still has an axis", () => {
  expect(niceTicks({ top: 0, count: 4 })).toEqual([0, 1]);
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

test("labels of an axis are apart and do not repeat", () => {
  expect([...labeledPlaces(["a", "b", "c", "d", "e"], 2)]).toEqual([0, 2, 4]);
  const hours = ["Nov 10", "Nov 10", "Nov 11", "Nov 11", "Nov 11", "Nov 12", "Nov 12"];
  expect([...labeledPlaces(hours, 1)]).toEqual([0, 2, 5]);
  expect([...labeledPlaces(hours, 3)]).toEqual([0, 5]);
});

test("days are named in the zone in which they begin", () => {
  const days = ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"].map((at) => point(at, {}));
  const { axis, full } = timeLabels(days, "Europe/Berlin");
  expect(axis("2026-03-28T23:00:00Z")).toBe("Mar 29");
  expect(full("2026-03-29T22:00:00Z")).toBe("Mon, Mar 30, 2026");
  expect(timeLabels(days, "UTC").axis("2026-03-28T23:00:00Z")).toBe("Mar 28");
});

test("hours of a day have a clock, those of a week a date", () => {
  const hours = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      point(new Date(Date.UTC(2026, 2, 1, at)).toISOString(), {}),
    );
  expect(timeLabels(hours(24), "Europe/Berlin").axis("2026-03-01T22:00:00Z")).toBe("23:00");
  expect(timeLabels(hours(168), "Europe/Berlin").axis("2026-03-01T23:00:00Z")).toBe("Mar 2");
});
