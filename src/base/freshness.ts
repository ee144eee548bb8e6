/** How far sums reach: every call that ended before `as_of` is in them. */
export interface Freshness {
  readonly is_complete: boolean;
  readonly as_of: string;
}

/** Sums that are late by less are as good as complete: a busy gateway always has calls in no sum yet. */
const lateMs = 3_000;

/** The moment that sums reach, if people must know that they are behind. */
export function behindSinceMs(
  { is_complete: isComplete, as_of: asOf }: Freshness,
  nowMs: number,
): number | undefined {
  const atMs = Date.parse(asOf);
  return isComplete || nowMs - atMs < lateMs ? undefined : atMs;
}

/** Of a view that is made of several sums: those that are furthest behind. */
export function leastFresh(all: readonly Freshness[]): Freshness | undefined {
  const [first] = all
    .filter((one) => !one.is_complete)
    .toSorted((one, other) => Date.parse(one.as_of) - Date.parse(other.as_of));
  return first ?? all[0];
}
