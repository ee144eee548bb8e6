import type { Limits } from "../call/limits.ts";
import type { Permit } from "./permit.ts";
import type { LimitRefusal, OwnerKind } from "./refusal.ts";

export interface LimitedOwner {
  readonly id: string;
  readonly kind: OwnerKind;
  /** Replaced, never changed in place: another object tells that the numbers may be others. */
  readonly limits: Limits | undefined;
  /** Counts the changes of the limits: of two processes the one with the higher number is right. */
  readonly version?: number | undefined;
}

export interface LimitRequest {
  readonly key: LimitedOwner;
  readonly account: LimitedOwner;
  readonly nowMs: number;
}

export interface TokenRequest extends LimitRequest {
  /** An estimate; `release` settles it to the truth. */
  readonly tokens: number;
}

export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface LimitState {
  readonly requests: RateState | undefined;
  readonly tokens: RateState | undefined;
}

/** A promise only where another process or the database has to be asked. */
type Soon<T> = T | Promise<T>;

/** Requests, tokens and concurrency of keys and accounts. */
export interface RequestLimiter {
  /**
   * Takes one request and one place among the running ones, before anything is known of the
   * request but its key. A refusal takes nothing; whoever is admitted has used the request, also
   * if it turns out to be invalid.
   */
  enter(request: LimitRequest): Soon<Permit | LimitRefusal>;
  /**
   * Takes the tokens, once it is known how many. Limits may have changed while the body was read:
   * those of now count. The permit is the one given, or one in its place.
   */
  takeTokens(
    permit: Permit | undefined,
    request: TokenRequest,
  ): Soon<Permit | LimitRefusal | undefined>;
  /** The request is over: gives its place back and settles the tokens. A second time does nothing. */
  release(permit: Permit, actualTokens: number, nowMs: number): void;
  /** What to tell the caller: of key and account the one with less left. */
  look(key: LimitedOwner, account: LimitedOwner, nowMs: number): LimitState | undefined;
  /**
   * For an owner that no longer exists. Not for changed limits: they are noticed anyway, and
   * forgetting used requests and running calls would allow them a second time.
   */
  forget(id: string): void;
}

/** What a reply tells of a rate. */
interface ShownRate {
  readonly perMinute: number;
  remaining(nowMs: number): number;
  resetMs(nowMs: number): number;
}

/** Of two rates the one with less left. */
export function tighter(
  ofKey: ShownRate | undefined,
  ofAccount: ShownRate | undefined,
  nowMs: number,
): RateState | undefined {
  if (ofKey === undefined) return ofAccount === undefined ? undefined : stateOf(ofAccount, nowMs);
  if (ofAccount === undefined) return stateOf(ofKey, nowMs);
  const more = ofKey.remaining(nowMs) - ofAccount.remaining(nowMs);
  const isKey = more === 0 ? ofKey.resetMs(nowMs) >= ofAccount.resetMs(nowMs) : more < 0;
  return stateOf(isKey ? ofKey : ofAccount, nowMs);
}

function stateOf(rate: ShownRate, nowMs: number): RateState {
  return {
    limit: rate.perMinute,
    remaining: rate.remaining(nowMs),
    resetMs: rate.resetMs(nowMs),
  };
}

/** As clients read it: `12ms`, `6s`, `1m30s`, `1h2m3s`; rounded up, so that nobody is early. */
export function formatReset(ms: number): string {
  const wholeMs = Math.ceil(ms);
  if (wholeMs < 1_000) return `${wholeMs}ms`;
  const seconds = Math.ceil(wholeMs / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}
