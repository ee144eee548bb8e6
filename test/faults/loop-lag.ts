/** Loaded before the real program: on request, tells how late its event loop was since the last one. */

import type { LoopLag } from "./trial.ts";

const everyMs = 5;
const maxSamples = 100_000;

let lateMs: number[] = [];
let dueMs = performance.now() + everyMs;

setInterval(() => {
  const nowMs = performance.now();
  if (lateMs.length < maxSamples) lateMs.push(Math.max(0, nowMs - dueMs));
  dueMs = nowMs + everyMs;
}, everyMs).unref();

process.on("message", () => {
  const sorted = lateMs.toSorted((a, b) => a - b);
  lateMs = [];
  const lag: LoopLag = {
    p50Ms: sorted[Math.floor(sorted.length / 2)] ?? 0,
    maxMs: sorted.at(-1) ?? 0,
  };
  process.send?.(lag);
});
