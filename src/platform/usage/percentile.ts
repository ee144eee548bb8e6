import { latencyBoundsMs } from "../../ledger/reports.ts";

export interface Times {
  /** By `latencyBoundsMs`, and one more. */
  readonly counts: readonly number[];
  readonly shortestMs: number;
  readonly longestMs: number;
}

/**
 * The duration that a share of all stayed within: what is known of the times of its step is where
 * they begin and end, so they are taken to lie there evenly. The shortest and the longest of all are
 * known; where one of them is of the step, it is its first or its last. So it is about right, never
 * off by more than that step, and exact where there is one. Null where nothing was counted.
 */
export function percentileMs(times: Times, share: number): number | null {
  const { counts, shortestMs, longestMs } = times;
  let total = 0;
  for (const count of counts) total += count;
  if (total === 0) return null;
  const wanted = Math.ceil(total * share);
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (below + count < wanted) {
      below += count;
      continue;
    }
    const fromMs = Math.max(latencyBoundsMs[at - 1] ?? 0, shortestMs);
    const toMs = Math.min(latencyBoundsMs[at] ?? longestMs, longestMs);
    const knownFirst = below === 0 ? 1 : 0;
    const knownLast = below + count === total ? 1 : 0;
    const gaps = count + 1 - knownFirst - knownLast;
    const passed = gaps === 0 ? 0 : (wanted - below - knownFirst) / gaps;
    // Not rounded: what is above the lower end of its step stays so.
    return Math.ceil(fromMs + passed * (toMs - fromMs));
  }
  return null;
}
