import { expect, test } from "bun:test";
import { attemptBarOf, timelineOf } from "./timeline.ts";

test.each([
  ["a stream waits, then answers", 250, 1_000, 0.25, 250, 750],
  ["without a byte all is waiting", null, 400, 1, 400, 0],
  ["a first byte is never after the end", 12, 10, 1, 10, 0],
  ["an answer at once has nothing to wait for", 0, 0, 0, 0, 0],
  ["a refusal at once is all waiting", null, 0, 1, 0, 0],
])("%s", (_, firstByteMs, durationMs, waitingShare, waitingMs, answeringMs) => {
  expect(timelineOf(firstByteMs, durationMs)).toEqual({ waitingShare, waitingMs, answeringMs });
});

test.each([
  ["is as wide as it took", 100, 300, 1_000, 0.1, 0.3],
  ["never reaches beyond the end", 900, 300, 1_000, 0.9, 1 - 0.9],
  ["is the whole of a call that took no time", 0, 0, 0, 0, 1],
])("the bar of an attempt %s", (_, startedMs, durationMs, totalMs, from, share) => {
  const times = { started_ms: startedMs, duration_ms: durationMs };
  expect(attemptBarOf(times, totalMs)).toEqual({ from, share, startedMs, durationMs });
});

test("an attempt without times has no bar", () => {
  expect(attemptBarOf({ started_ms: null, duration_ms: null }, 10)).toBeUndefined();
});
