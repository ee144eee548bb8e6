import { formatExact } from "../../format/moments.ts";

/** Of every reply that is made of sums. */
export interface Freshness {
  readonly is_complete: boolean;
  readonly as_of: string;
}

/** Sums that are late by less are as good as complete. */
const lateMs = 3_000;

/** How far the sums reach, where that is behind what people see elsewhere. */
export function behindWords(
  { is_complete: isComplete, as_of: asOf }: Freshness,
  nowMs: number,
): string | undefined {
  const atMs = Date.parse(asOf);
  if (isComplete || nowMs - atMs < lateMs) return undefined;
  return `As of ${formatExact(atMs)}. Later calls are not counted yet.`;
}
