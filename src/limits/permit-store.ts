/** What several processes share of an owner's limits. */
export type PermitKind = "requests" | "tokens" | "concurrency";

/** What a process gives back, still has and wants of one limit of one owner. */
export interface PermitAsk {
  readonly ownerId: string;
  readonly kind: PermitKind;
  /** Per minute, or at a time. */
  readonly limit: number;
  /** Counts the changes of the owner's limits: the limit with the highest number applies. */
  readonly version: number;
  /** Rates: unused units that go back. */
  readonly returned: number;
  /** Units that stay with the process: calls that run, or that are being admitted. */
  readonly kept: number;
  /** Tokens: what calls have used above their estimates since the last ask; below zero: less. */
  readonly settled: number;
  /** What the waiting requests cost, in their order: each is covered whole or not at all. */
  readonly needs: readonly number[];
  /** How many more would be used soon. Granted from what is plentiful only. */
  readonly extra: number;
}

export interface PermitGrant {
  readonly granted: number;
  /** Rates: the level after this grant, with all that any process holds. */
  readonly used: number;
  /** Concurrency: places that no process holds. */
  readonly free: number;
  /** How many used the limit in the last second, this one included. */
  readonly processes: number;
}

/**
 * Implemented by a store that several processes share. Times are those of the store: clocks of
 * processes may be wrong. Rate permits expire `permitLifeMs` after they were granted. Concurrency
 * permits stay until they are no longer kept, or the process is given up.
 */
export interface PermitStore {
  /**
   * One grant per ask, in the same order; all in one call. The calls of a process must not overlap.
   * Rejects when the store is away, or no longer knows this process.
   */
  borrow(asks: readonly PermitAsk[]): Promise<readonly PermitGrant[]>;
}

export const permitLifeMs = 1_000;
