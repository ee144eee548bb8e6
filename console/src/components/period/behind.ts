import { behindSinceMs, type Freshness } from "../../../../src/base/freshness.ts";
import { formatExact } from "../../format/moments.ts";

/** How far the sums reach, where that is behind what people see elsewhere. */
export function behindWords(sums: Freshness, nowMs: number): string | undefined {
  const atMs = behindSinceMs(sums, nowMs);
  return atMs === undefined
    ? undefined
    : `As of ${formatExact(atMs)}. Later calls are not counted yet.`;
}
