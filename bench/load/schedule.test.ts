import { expect, test } from "bun:test";
import { Schedule } from "./schedule.ts";

const msNs = 1e6;

test("requests are due at the rate, and no more than their count", () => {
  const schedule = new Schedule({ perSecond: 1_000, count: 10, startNs: 0 });
  const taken = Array.from({ length: 20 }, (_, tick) => schedule.take(tick * msNs).length);
  expect(taken.slice(0, 10)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  expect(taken.slice(10).every((count) => count === 0)).toBe(true);
  expect(schedule.isOver).toBe(true);
});

test("the resolution of the clock is not latency", () => {
  const schedule = new Schedule({ perSecond: 10_000, count: 1_000, startNs: 0 });
  schedule.take(0);
  const nowNs = 1.1 * msNs;
  expect(new Set(schedule.take(nowNs))).toEqual(new Set([nowNs]));
});

test("a clock that stalls makes requests late from when they were due", () => {
  const schedule = new Schedule({ perSecond: 1_000, count: 1_000, startNs: 0 });
  schedule.take(0);
  const due = schedule.take(100 * msNs);
  expect(due.length).toBe(100);
  expect(due[0]).toBe(1.25 * msNs);
  expect(due[49]).toBe(50 * msNs);
  expect(due.at(-1)).toBe(100 * msNs);
  // The next tick is on time again.
  expect(schedule.take(101.1 * msNs)).toEqual([101.1 * msNs]);
});

test("a rate below one tick waits for its time", () => {
  const schedule = new Schedule({ perSecond: 10, count: 3, startNs: 5 * msNs });
  expect(schedule.take(5 * msNs).length).toBe(1);
  expect(schedule.take(104 * msNs).length).toBe(0);
  expect(schedule.take(105 * msNs).length).toBe(1);
  expect(schedule.isOver).toBe(false);
});
