import type { Limits } from "../call/limits.ts";

export type OwnerKind = "key" | "account";

export interface LimitRefusal {
  readonly kind: "requests" | "tokens" | "concurrency";
  readonly owner: OwnerKind;
  readonly limit: number;
  readonly needed: number;
  /** Whole milliseconds; undefined: no wait makes it possible. */
  readonly retryAfterMs: number | undefined;
}

/** What one owner uses of a rate. */
export interface UsedRate {
  readonly perMinute: number;
  waitMs(cost: number, nowMs: number): number;
  promise(cost: number, nowMs: number): number;
}

/** What one owner uses. */
export interface LimitedUse {
  readonly kind: OwnerKind;
  readonly limits: Limits;
  readonly requests: UsedRate | undefined;
  readonly tokens: UsedRate | undefined;
  readonly isBusy: boolean;
  promiseTurn(nowMs: number): number;
}

/**
 * The longest wait, and before it what no wait makes possible. 0 tokens: they are not looked at,
 * because nothing is known of them yet.
 */
export function refusalFor(
  tokens: number,
  nowMs: number,
  key: LimitedUse | undefined,
  account: LimitedUse | undefined,
): LimitRefusal {
  const impossible = findImpossible(tokens, key) ?? findImpossible(tokens, account);
  if (impossible !== undefined) return impossible;
  const uses = [key, account].filter((use) => use !== undefined);
  const longest = uses
    .flatMap((use) => (tokens > 0 ? tokenRefusals(tokens, nowMs, use) : entryRefusals(nowMs, use)))
    .reduce((one, next) => (isLonger(next, one) ? next : one));
  if (tokens === 0) return longest;
  // The next attempt needs a request, too: this one has used its own.
  const requestMs = uses.map(({ requests }) => Math.ceil(requests?.waitMs(1, nowMs) ?? 0));
  return { ...longest, retryAfterMs: Math.max(longest.retryAfterMs ?? 0, ...requestMs) };
}

/** What no wait makes possible; then no other limit promises a slot either. */
export function findImpossible(
  tokens: number,
  use: Pick<LimitedUse, "kind" | "limits"> | undefined,
): LimitRefusal | undefined {
  if (use === undefined) return undefined;
  const { kind: owner, limits } = use;
  const { rpm, tpm, concurrency } = limits;
  const never = { owner, needed: 1, retryAfterMs: undefined };
  if (rpm !== undefined && rpm < 1) return { ...never, kind: "requests", limit: rpm };
  if (tpm !== undefined && tpm < tokens)
    return { ...never, kind: "tokens", limit: tpm, needed: tokens };
  if (concurrency !== undefined && concurrency < 1)
    return { ...never, kind: "concurrency", limit: concurrency };
  return undefined;
}

/**
 * Every limit that refuses a request reserves a slot, not only the limit that the reply names. So
 * callers with several keys of one account get different slots of the account.
 */
function entryRefusals(nowMs: number, use: LimitedUse): LimitRefusal[] {
  const { kind: owner, limits, requests: rate } = use;
  const refusals: LimitRefusal[] = [];
  if (rate !== undefined && rate.waitMs(1, nowMs) > 0) {
    const retryAfterMs = rate.promise(1, nowMs);
    refusals.push({ kind: "requests", owner, limit: rate.perMinute, needed: 1, retryAfterMs });
  }
  if (limits.concurrency !== undefined && use.isBusy) {
    const retryAfterMs = use.promiseTurn(nowMs);
    const limit = limits.concurrency;
    refusals.push({ kind: "concurrency", owner, limit, needed: 1, retryAfterMs });
  }
  return refusals;
}

function tokenRefusals(tokens: number, nowMs: number, use: LimitedUse): LimitRefusal[] {
  const { kind: owner, tokens: rate } = use;
  if (rate === undefined || rate.waitMs(tokens, nowMs) === 0) return [];
  const retryAfterMs = rate.promise(tokens, nowMs);
  return [{ kind: "tokens", owner, limit: rate.perMinute, needed: tokens, retryAfterMs }];
}

export function isLonger(one: LimitRefusal, other: LimitRefusal): boolean {
  return (one.retryAfterMs ?? 0) > (other.retryAfterMs ?? 0);
}

/** Nobody knows when a call will end: callers come back one after another, not together. */
export class Turns {
  #promisedMs = 0;

  promise(nowMs: number): number {
    const turnMs = Math.max(nowMs + firstTurnMs, this.#promisedMs + nextTurnMs);
    this.#promisedMs = Math.min(turnMs, nowMs + lastTurnMs);
    return Math.ceil(this.#promisedMs - nowMs);
  }
}

const firstTurnMs = 1_000;
const nextTurnMs = 100;
const lastTurnMs = 10_000;
