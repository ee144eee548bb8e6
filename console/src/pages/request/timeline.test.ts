import { expect, test } from "bun:test";
import { timelineOf } from "./timeline.ts";

test.each([
  ["a stream waits, then answers", 250, 1_000, 0.25, 250, 750],
  ["without a byte all is waiting", null, 400, 1, 400, 0],
  ["a first byte is never after the end", 12, 10, 1, 10, 0],
  ["an answer at once has nothing to wait for", 0, 0, 0, 0, 0],
  ["a refusal at once is all waiting", null, 0, 1, 0, 0],
])("%s", (_, firstByteMs, durationMs, waitingShare, waitingMs, answeringMs) => {
  expect(timelineOf(firstByteMs, durationMs)).toEqual({ waitingShare, waitingMs, answeringMs });
});
