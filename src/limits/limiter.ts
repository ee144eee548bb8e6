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
  readonly nowMs: number;
}

export interface TokenRequest extends LimitRequest {
  /** An estimate; `release` settles it to the truth. */
  readonly tokens: number;
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

  /**
   * Takes one request and one place among the running ones, before anything is known of the
   * request but its key. A refusal takes nothing; whoever is admitted has used the request, also
   * if it turns out to be invalid.
   */
  enter(request: LimitRequest): Permit | LimitRefusal {
    const { nowMs } = request;
    const key = this.#usageOf(request.key, nowMs);
    const account = this.#usageOf(request.account, nowMs);
    if (key === undefined && account === undefined) return unlimited;
    if (key?.admits(nowMs) === false || account?.admits(nowMs) === false)
      return refusalFor(0, nowMs, key, account);
    key?.take(nowMs);
    account?.take(nowMs);
    return new Permit(key, account);
  }

  /**
   * Takes the tokens, once it is known how many. Limits may have changed while the body was read:
   * those of now count. The permit is the one given, or one in its place.
   */
  takeTokens(permit: Permit | undefined, request: TokenRequest): Permit | LimitRefusal | undefined {
    const { tokens, nowMs } = request;
    // Images have none: they wait for nobody's debt.
    if (tokens === 0) return permit;
    const key = this.#usageOf(request.key, nowMs);
    const account = this.#usageOf(request.account, nowMs);
    if (key?.tokens === undefined && account?.tokens === undefined) return permit;
    if (
      key?.admitsTokens(tokens, nowMs) === false ||
      account?.admitsTokens(tokens, nowMs) === false
    )
      return refusalFor(tokens, nowMs, key, account);
    key?.tokens?.take(tokens, nowMs);
    account?.tokens?.take(tokens, nowMs);
    const taking =
      permit === undefined || permit === unlimited ? new Permit(undefined, undefined) : permit;
    taking.keep(tokens, key?.tokens, account?.tokens);
    return taking;
  }

  /** The request is over: gives its place back and settles the tokens. A second time does nothing. */
  release(permit: Permit, actualTokens: number, nowMs: number): void {
    if (!permit.close()) return;
    const difference = actualTokens - permit.tokens;
    permit.keyTokens?.adjust(difference, nowMs);
    permit.accountTokens?.adjust(difference, nowMs);
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

  admits(nowMs: number): boolean {
    return !this.isBusy && (this.requests === undefined || this.requests.waitMs(1, nowMs) === 0);
  }

  admitsTokens(tokens: number, nowMs: number): boolean {
    return this.tokens === undefined || this.tokens.waitMs(tokens, nowMs) === 0;
  }

  take(nowMs: number): void {
    this.running++;
    this.requests?.take(1, nowMs);
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
 * Leave to call. It remembers the rates that tokens were taken from: limits may come and go while
 * the call runs, and only what was taken is settled.
 */
export class Permit {
  #tokens = 0;
  #keyTokens: Gcra | undefined;
  #accountTokens: Gcra | undefined;
  readonly #key: Usage | undefined;
  readonly #account: Usage | undefined;
  #isOpen = true;

  constructor(key: Usage | undefined, account: Usage | undefined) {
    this.#key = key;
    this.#account = account;
  }

  get tokens(): number {
    return this.#tokens;
  }

  get keyTokens(): Gcra | undefined {
    return this.#keyTokens;
  }

  get accountTokens(): Gcra | undefined {
    return this.#accountTokens;
  }

  keep(tokens: number, keyTokens: Gcra | undefined, accountTokens: Gcra | undefined): void {
    this.#tokens = tokens;
    this.#keyTokens = keyTokens;
    this.#accountTokens = accountTokens;
  }

  /** Gives the place back; false when that was done before. */
  close(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    if (this.#key !== undefined) this.#key.running--;
    if (this.#account !== undefined) this.#account.running--;
    return true;
  }
}

/** Shared by all requests without any limit. */
const unlimited = new Permit(undefined, undefined);

/**
 * The longest wait, and before it what no wait makes possible. 0 tokens: they are not looked at,
 * because nothing is known of them yet.
 */
function refusalFor(
  tokens: number,
  nowMs: number,
  key: Usage | undefined,
  account: Usage | undefined,
): LimitRefusal {
  const impossible = findImpossible(tokens, key) ?? findImpossible(tokens, account);
  if (impossible !== undefined) return impossible;
  const usages = [key, account].filter((usage) => usage !== undefined);
  const longest = usages
    .flatMap((usage) =>
      tokens > 0 ? tokenRefusals(tokens, nowMs, usage) : entryRefusals(nowMs, usage),
    )
    .reduce((one, next) => (isLonger(next, one) ? next : one));
  if (tokens === 0) return longest;
  // The next attempt needs a request, too: this one has used its own.
  const requestMs = usages.map(({ requests }) => Math.ceil(requests?.waitMs(1, nowMs) ?? 0));
  return { ...longest, retryAfterMs: Math.max(longest.retryAfterMs ?? 0, ...requestMs) };
}

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
function entryRefusals(nowMs: number, usage: Usage): LimitRefusal[] {
  const { kind: owner, limits, requests: rate } = usage;
  const refusals: LimitRefusal[] = [];
  if (rate !== undefined && rate.waitMs(1, nowMs) > 0) {
    const retryAfterMs = rate.promise(1, nowMs);
    refusals.push({ kind: "requests", owner, limit: rate.perMinute, needed: 1, retryAfterMs });
  }
  if (limits.concurrency !== undefined && usage.isBusy) {
    const retryAfterMs = usage.promiseTurn(nowMs);
    const limit = limits.concurrency;
    refusals.push({ kind: "concurrency", owner, limit, needed: 1, retryAfterMs });
  }
  return refusals;
}

function tokenRefusals(tokens: number, nowMs: number, usage: Usage): LimitRefusal[] {
  const { kind: owner, tokens: rate } = usage;
  if (rate === undefined || rate.waitMs(tokens, nowMs) === 0) return [];
  const retryAfterMs = rate.promise(tokens, nowMs);
  return [{ kind: "tokens", owner, limit: rate.perMinute, needed: tokens, retryAfterMs }];
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
