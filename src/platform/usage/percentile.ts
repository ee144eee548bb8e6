import { latencyBoundsMs } from "../../ledger/reports.ts";

/**
 * The duration that a share of all stayed below, from counts by `latencyBoundsMs`: within the
 * step in which it lies it is taken to be even, so it is about right and never off by more than
 * that step. Null where nothing was counted.
 */
export function percentileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = total * share;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && below + count >= wanted) {
      const fromMs = at === 0 ? 0 : (latencyBoundsMs[at - 1] ?? 0);
      // Above the last bound there is no end: twice the bound stands for it.
      const toMs = latencyBoundsMs[at] ?? fromMs * 2;
      return Math.round(fromMs + ((wanted - below) / count) * (toMs - fromMs));
    }
    below += count;
  }
  return null;
}
