import { expect, test } from "bun:test";
import { latencyBoundsMs } from "../../ledger/reports.ts";
import { percentileMs } from "./percentile.ts";

const counts = (given: Readonly<Record<number, number>>) =>
  Array.from({ length: latencyBoundsMs.length + 1 }, (_, at) => given[at] ?? 0);

test("where nothing was counted there is no percentile", () => {
  expect(percentileMs(counts({}), 0.5)).toBeNull();
});

test.each([
  ["the middle of the first step", { 0: 10 }, 0.5, 13],
  ["the middle of a later step", { 3: 4 }, 0.5, 150],
  ["the end of a step that holds just that share", { 2: 95, 8: 5 }, 0.95, 100],
  ["within the step of the slow ones", { 2: 90, 4: 10 }, 0.95, 300],
  ["a step without any is passed over", { 1: 1, 5: 99 }, 0.02, 404],
  ["above the last bound it goes up to twice of it", { 12: 2 }, 0.5, 76_800],
] as const)("%s", (_, given, share, expectedMs) => {
  expect(percentileMs(counts(given), share)).toBe(expectedMs);
});

test("a percentile lies in the step in which the sorted durations have it", () => {
  const durationsMs = Array.from({ length: 500 }, (_, at) => ((at * 7_919) % 5_000) + 1);
  const stepOf = (ms: number) => {
    const at = latencyBoundsMs.findIndex((bound) => ms <= bound);
    return at === -1 ? latencyBoundsMs.length : at;
  };
  const counted = counts({});
  for (const ms of durationsMs) counted[stepOf(ms)] = (counted[stepOf(ms)] ?? 0) + 1;
  const sorted = durationsMs.toSorted((one, other) => one - other);
  for (const share of [0.05, 0.5, 0.9, 0.95, 0.99]) {
    const exactMs = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    expect({ share, step: stepOf(percentileMs(counted, share) ?? -1) }).toEqual({
      share,
      step: stepOf(exactMs),
    });
  }
});
