import type { Limits } from "../call/limits.ts";
import { Gcra } from "./gcra.ts";

export type OwnerKind = "key" | "account";

export interface LimitedOwner {
  readonly id: string;
  readonly kind: OwnerKind;
  /** Replaced, never changed in place: another object tells that the numbers may be others. */
  readonly limits: Limits | undefined;
}

export interface LimitRequest {
  readonly key: LimitedOwner;
  readonly account: LimitedOwner;
  /** An estimate; `release` tells the truth. */
  readonly tokens: number;
  readonly nowMs: number;
}

export interface LimitRefusal {
  readonly kind: "requests" | "tokens" | "concurrency";
  readonly owner: OwnerKind;
  readonly limit: number;
  readonly needed: number;
  /** Whole milliseconds; undefined: no wait makes it possible. */
  readonly retryAfterMs: number | undefined;
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

/**
 * Requests, tokens and concurrency of keys and accounts. Every request passes here: one look-up an
 * owner, and one object, the permit. An owner that never had a limit has no state.
 */
export class Limiter {
  readonly #usages = new Map<string, Usage>();

  /** How many owners are remembered. */
  get size(): number {
    return this.#usages.size;
  }

  /** All limits are looked at before anything is taken: a refusal uses up nothing. */
  admit(request: LimitRequest): Permit | LimitRefusal {
    const { tokens, nowMs } = request;
    const key = this.#usageOf(request.key, nowMs);
    const account = this.#usageOf(request.account, nowMs);
    if (key === undefined && account === undefined) return unlimited;
    if (key?.admits(tokens, nowMs) === false || account?.admits(tokens, nowMs) === false)
      return this.#refuse(request);
    key?.take(tokens, nowMs);
    account?.take(tokens, nowMs);
    return new Permit(key, account, tokens);
  }

  /** The call is over: gives concurrency back and settles the tokens. A second time does nothing. */
  release(permit: Permit, actualTokens: number, nowMs: number): void {
    if (!permit.close()) return;
    const difference = actualTokens - permit.tokens;
    permit.keyTokens?.adjust(difference, nowMs);
    permit.accountTokens?.adjust(difference, nowMs);
  }

  /** The call never was: gives back all that `admit` has taken. */
  undo(permit: Permit, nowMs: number): void {
    if (!permit.close()) return;
    permit.keyRequests?.adjust(-1, nowMs);
    permit.accountRequests?.adjust(-1, nowMs);
    permit.keyTokens?.adjust(-permit.tokens, nowMs);
    permit.accountTokens?.adjust(-permit.tokens, nowMs);
  }

  /** What to tell the caller: of key and account the one with less left. */
  look(key: LimitedOwner, account: LimitedOwner, nowMs: number): LimitState | undefined {
    const ofKey = this.#usageOf(key, nowMs);
    const ofAccount = this.#usageOf(account, nowMs);
    const requests = tighter(ofKey?.requests, ofAccount?.requests, nowMs);
    const tokens = tighter(ofKey?.tokens, ofAccount?.tokens, nowMs);
    return requests === undefined && tokens === undefined ? undefined : { requests, tokens };
  }

  /**
   * For an owner that is gone. Not for changed limits: those are noticed, and to forget what was
   * used or runs would grant it anew.
   */
  forget(id: string): void {
    this.#usages.delete(id);
  }

  /** The longest wait is told, and before it what no wait makes possible. */
  #refuse(request: LimitRequest): LimitRefusal {
    const { tokens, nowMs } = request;
    const key = this.#usageOf(request.key, nowMs);
    const account = this.#usageOf(request.account, nowMs);
    return (
      findImpossible(tokens, key) ??
      findImpossible(tokens, account) ??
      [...listRefusals(request, key), ...listRefusals(request, account)].reduce((longest, next) =>
        isLonger(next, longest) ? next : longest,
      )
    );
  }

  #usageOf({ id, kind, limits }: LimitedOwner, nowMs: number): Usage | undefined {
    if (limits === undefined) return undefined;
    const usage = this.#usages.get(id);
    if (usage !== undefined) {
      if (usage.limits !== limits) usage.change(limits, nowMs);
      return usage;
    }
    const { rpm, tpm, concurrency } = limits;
    if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined;
    const fresh = new Usage(kind, limits);
    this.#usages.set(id, fresh);
    return fresh;
  }
}

/** What one owner uses. */
class Usage {
  readonly kind: OwnerKind;
  limits: Limits;
  requests: Gcra | undefined;
  tokens: Gcra | undefined;
  /** Counted also without a limit, so that it is right when a limit comes. */
  running = 0;
  #promisedMs = 0;

  constructor(kind: OwnerKind, limits: Limits) {
    this.kind = kind;
    this.limits = limits;
    this.requests = changed(undefined, limits.rpm, 0);
    this.tokens = changed(undefined, limits.tpm, 0);
  }

  change(limits: Limits, nowMs: number): void {
    this.limits = limits;
    this.requests = changed(this.requests, limits.rpm, nowMs);
    this.tokens = changed(this.tokens, limits.tpm, nowMs);
  }

  get isBusy(): boolean {
    const { concurrency } = this.limits;
    return concurrency !== undefined && this.running >= concurrency;
  }

  admits(tokens: number, nowMs: number): boolean {
    return (
      !this.isBusy &&
      (this.requests === undefined || this.requests.waitMs(1, nowMs) === 0) &&
      (this.tokens === undefined || this.tokens.waitMs(tokens, nowMs) === 0)
    );
  }

  take(tokens: number, nowMs: number): void {
    this.running++;
    this.requests?.take(1, nowMs);
    this.tokens?.take(tokens, nowMs);
  }

  /** Nobody knows when a call will end: callers come back one after another, not together. */
  promiseTurn(nowMs: number): number {
    const turnMs = Math.max(nowMs + firstTurnMs, this.#promisedMs + nextTurnMs);
    this.#promisedMs = Math.min(turnMs, nowMs + lastTurnMs);
    return Math.ceil(this.#promisedMs - nowMs);
  }
}

const firstTurnMs = 1_000;
const nextTurnMs = 100;
const lastTurnMs = 10_000;

function changed(
  rate: Gcra | undefined,
  perMinute: number | undefined,
  nowMs: number,
): Gcra | undefined {
  if (perMinute === undefined) return undefined;
  if (rate === undefined) return new Gcra(perMinute);
  if (rate.perMinute !== perMinute) rate.change(perMinute, nowMs);
  return rate;
}

/**
 * Leave to call. It remembers the rates it was taken from: limits may come and go while the call
 * runs, and only what was taken is settled.
 */
export class Permit {
  readonly tokens: number;
  readonly keyRequests: Gcra | undefined;
  readonly keyTokens: Gcra | undefined;
  readonly accountRequests: Gcra | undefined;
  readonly accountTokens: Gcra | undefined;
  readonly #key: Usage | undefined;
  readonly #account: Usage | undefined;
  #isOpen = true;

  /** Three parameters, because an object to carry them would be one more a request. */
  constructor(key: Usage | undefined, account: Usage | undefined, tokens: number) {
    this.#key = key;
    this.#account = account;
    this.tokens = tokens;
    this.keyRequests = key?.requests;
    this.keyTokens = key?.tokens;
    this.accountRequests = account?.requests;
    this.accountTokens = account?.tokens;
  }

  /** Gives the concurrency back; false when that was done before. */
  close(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    if (this.#key !== undefined) this.#key.running--;
    if (this.#account !== undefined) this.#account.running--;
    return true;
  }
}

/** Shared by all requests without any limit. */
const unlimited = new Permit(undefined, undefined, 0);

/** What no wait makes possible; then no other limit promises a slot either. */
function findImpossible(tokens: number, usage: Usage | undefined): LimitRefusal | undefined {
  if (usage === undefined) return undefined;
  const { kind: owner, limits } = usage;
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
 * Every limit that refuses promises a slot, not only the one that is told: so callers with many
 * keys of one account are told different slots of the account.
 */
function listRefusals({ tokens, nowMs }: LimitRequest, usage: Usage | undefined): LimitRefusal[] {
  if (usage === undefined) return [];
  const { kind: owner, limits, requests: requestRate, tokens: tokenRate } = usage;
  const refusals: LimitRefusal[] = [];
  if (requestRate !== undefined && requestRate.waitMs(1, nowMs) > 0) {
    const retryAfterMs = requestRate.promise(1, nowMs);
    const limit = requestRate.perMinute;
    refusals.push({ kind: "requests", owner, limit, needed: 1, retryAfterMs });
  }
  if (tokenRate !== undefined && tokenRate.waitMs(tokens, nowMs) > 0) {
    const retryAfterMs = tokenRate.promise(tokens, nowMs);
    const limit = tokenRate.perMinute;
    refusals.push({ kind: "tokens", owner, limit, needed: tokens, retryAfterMs });
  }
  if (limits.concurrency !== undefined && usage.isBusy) {
    const retryAfterMs = usage.promiseTurn(nowMs);
    const limit = limits.concurrency;
    refusals.push({ kind: "concurrency", owner, limit, needed: 1, retryAfterMs });
  }
  return refusals;
}

function isLonger(one: LimitRefusal, other: LimitRefusal): boolean {
  return (one.retryAfterMs ?? 0) > (other.retryAfterMs ?? 0);
}

function tighter(
  ofKey: Gcra | undefined,
  ofAccount: Gcra | undefined,
  nowMs: number,
): RateState | undefined {
  if (ofKey === undefined) return ofAccount === undefined ? undefined : stateOf(ofAccount, nowMs);
  if (ofAccount === undefined) return stateOf(ofKey, nowMs);
  const more = ofKey.remaining(nowMs) - ofAccount.remaining(nowMs);
  const isKey = more === 0 ? ofKey.resetMs(nowMs) >= ofAccount.resetMs(nowMs) : more < 0;
  return stateOf(isKey ? ofKey : ofAccount, nowMs);
}

function stateOf(rate: Gcra, nowMs: number): RateState {
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
