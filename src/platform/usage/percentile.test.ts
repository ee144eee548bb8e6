import { expect, test } from "bun:test";
import { latencyBoundsMs, noShortestMs } from "../../ledger/reports.ts";
import { percentileMs, type Times } from "./percentile.ts";

function stepOf(ms: number): number {
  const at = latencyBoundsMs.findIndex((bound) => ms <= bound);
  return at === -1 ? latencyBoundsMs.length : at;
}

function timesOf(all: readonly number[]): Times {
  const counts = [...latencyBoundsMs.map(() => 0), 0];
  for (const ms of all) counts[stepOf(ms)] = (counts[stepOf(ms)] ?? 0) + 1;
  return {
    counts,
    shortestMs: Math.min(noShortestMs, ...all),
    longestMs: Math.max(0, ...all),
  };
}

test("where nothing was counted there is no percentile", () => {
  expect(percentileMs(timesOf([]), 0.5)).toBeNull();
});

const shares = [0.05, 0.5, 0.9, 0.95, 0.99];

test("of one duration, or of many that are the same, every percentile is just that", () => {
  for (const ms of [0, 1, 25, 26, 899, 1_600, 51_200, 51_201, 3_600_000])
    for (const count of [1, 2, 100])
      for (const share of shares)
        expect([ms, percentileMs(timesOf(Array(count).fill(ms)), share)]).toEqual([ms, ms]);
});

test.each([
  ["the shortest, where it alone is in the lower step", [500, 3_000], 0.5, 500],
  ["the longest, where it alone is in the upper step", [500, 3_000], 0.95, 3_000],
  ["the longest, where so few were counted that it is", [10, 20, 30, 1_000, 1_500], 0.95, 1_500],
  ["in the middle of the shortest and the longest of one step", [810, 820, 1_010], 0.5, 910],
  ["in the middle of a step of which nothing else is known", [10, 150, 60_000], 0.5, 150],
  ["from the shortest on", [150, 160, 170, 180, 60_000, 60_000], 0.5, 175],
  ["up to the longest, also above the last bound", [1, 60_000, 71_200], 0.5, 61_200],
  [
    "above the end of the step below",
    [...Array<number>(5).fill(9), ...Array<number>(95).fill(50)],
    0.06,
    26,
  ],
] as const)("it is %s", (_, all, share, expectedMs) => {
  expect(percentileMs(timesOf(all), share)).toBe(expectedMs);
});

/** The same numbers in every run (a linear congruential generator). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("of any durations it lies between the shortest and the longest, and in the step of the true one", () => {
  const random = randomFrom(7);
  for (let sample = 0; sample < 3_000; sample++) {
    const mostMs = 2 ** (1 + random() * 17);
    const all = Array.from({ length: 1 + Math.floor(60 * random() ** 2) }, () =>
      Math.floor(mostMs * random() ** 2),
    );
    const times = timesOf(all);
    const sorted = all.toSorted((one, other) => one - other);
    for (const share of shares) {
      const trueMs = sorted[Math.ceil(share * sorted.length) - 1] ?? -1;
      const ms = percentileMs(times, share) ?? -1;
      expect({ sorted, share, ms, step: stepOf(ms) }).toEqual({
        sorted,
        share,
        ms: Math.min(Math.max(ms, times.shortestMs), times.longestMs),
        step: stepOf(trueMs),
      });
    }
  }
});

test("a larger share never has a shorter duration", () => {
  const random = randomFrom(11);
  for (let sample = 0; sample < 300; sample++) {
    const times = timesOf(Array.from({ length: 40 }, () => Math.floor(70_000 * random() ** 4)));
    const found = shares.map((share) => percentileMs(times, share) ?? -1);
    expect(found).toEqual(found.toSorted((one, other) => one - other));
  }
});
