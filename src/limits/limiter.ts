import type { Limits } from "../call/limits.ts";
import { Gcra } from "./gcra.ts";
import { Permit, unlimited } from "./permit.ts";
import { type LimitRefusal, type OwnerKind, refusalFor, Turns } from "./refusal.ts";
import {
  type LimitedOwner,
  type LimitRequest,
  type LimitState,
  type RequestLimiter,
  type TokenRequest,
  tighter,
} from "./request-limiter.ts";

/**
 * Requests, tokens and concurrency of keys and accounts. Every request passes here: one look-up an
 * owner, and one object, the permit. An owner that never had a limit has no state.
 */
export class Limiter implements RequestLimiter {
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
    permit.close(actualTokens, nowMs);
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
   * For an owner that no longer exists. Not for changed limits: they are noticed anyway, and
   * forgetting used requests and running calls would allow them a second time.
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
  readonly #turns = new Turns();

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

  leave(): void {
    this.running--;
  }

  promiseTurn(nowMs: number): number {
    return this.#turns.promise(nowMs);
  }
}

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
