import { expect, test } from "bun:test";
import { limits, type Pair, verdictsOf } from "./verdict.ts";

function pair(requestRatio: number, chunkRatio: number): Pair {
  return {
    ours: { cpuUsPerRequest: 30 * requestRatio, cpuUsPerChunk: 20 * chunkRatio },
    bare: { cpuUsPerRequest: 30, cpuUsPerChunk: 20 },
  };
}

const results = (pairs: readonly Pair[]) => verdictsOf(pairs).map(({ isWithin }) => isWithin);

test("one bad pair among five is noise", () => {
  const good = pair(limits.cpuUsPerRequest * 0.7, limits.cpuUsPerChunk * 0.7);
  const bad = pair(limits.cpuUsPerRequest * 3, limits.cpuUsPerChunk * 3);
  expect(results([bad, good, good, good, bad])).toEqual([true, true]);
});

test("a regression in either figure is found", () => {
  const slowRequests = pair(limits.cpuUsPerRequest * 1.1, 1);
  const slowChunks = pair(1, limits.cpuUsPerChunk * 1.1);
  expect(results([slowRequests, slowRequests, slowRequests])).toEqual([false, true]);
  expect(results([slowChunks, slowChunks, slowChunks])).toEqual([true, false]);
});

test("without figures, nothing is within its limit", () => {
  expect(results([])).toEqual([false, false]);
  expect(results([{ ours: {}, bare: {} }])).toEqual([false, false]);
});
