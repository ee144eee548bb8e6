/** Below this, a worker has time for all that comes, however it is spread. */
const fewPending = 4;
/** How far above the average a worker may be. */
const tolerance = 1.25;

/**
 * How many connections each worker should end, by its requests in flight. The kernel spreads
 * connections by a hash, so some workers get more of them, and one that has just started gets none
 * of those that are open. A caller has one request in flight per connection: what is above the
 * average is the number of connections to move. Connecting again leads to a random worker, so a few
 * rounds are enough.
 */
export function connectionsToEnd(
  pending: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const mean = pending.values().reduce((sum, one) => sum + one, 0) / pending.size;
  if (!(mean >= fewPending)) return new Map();
  return new Map(
    pending
      .entries()
      .filter(([, count]) => count > mean * tolerance)
      .map(([worker, count]) => [worker, Math.ceil(count - mean)]),
  );
}
