import type { Limits } from "../../call/limits.ts";
import { Permit, unlimited } from "../permit.ts";
import type { PermitStore } from "../permit-store.ts";
import { findImpossible, isLonger, type LimitRefusal, type OwnerKind } from "../refusal.ts";
import {
  type LimitedOwner,
  type LimitRequest,
  type LimitState,
  type RequestLimiter,
  type TokenRequest,
  tighter,
} from "../request-limiter.ts";
import { BorrowedRate } from "./borrowed-rate.ts";
import { BorrowedSlots } from "./borrowed-slots.ts";
import { Borrower, systemTiming, type Timing } from "./borrower.ts";
import type { Borrowed } from "./waiters.ts";

/**
 * Limits that several processes share. What is in hand is taken at once; else the store is asked,
 * and the request waits for it. Times are monotonic ones of this process and those of the store:
 * the moments that callers pass are not looked at, because their clock may jump.
 */
export class SharedLimiter implements RequestLimiter {
  readonly #owners = new Map<string, SharedUse>();
  readonly #borrower: Borrower;
  readonly #timing: Timing;

  constructor(store: PermitStore, timing: Timing = systemTiming) {
    this.#timing = timing;
    this.#borrower = new Borrower(store, timing);
  }

  enter(request: LimitRequest): Permit | LimitRefusal | Promise<Permit | LimitRefusal> {
    const nowMs = this.#timing.nowMs();
    const key = this.#useOf(request.key, nowMs);
    const account = this.#useOf(request.account, nowMs);
    if (key === undefined && account === undefined) return unlimited;
    const impossible = findImpossible(0, key) ?? findImpossible(0, account);
    if (impossible !== undefined) return impossible;
    const needs = [...entryNeeds(key), ...entryNeeds(account)];
    const refused = this.#take(needs, nowMs);
    const finish = (failed: readonly Need[]) =>
      failed.length === 0
        ? new Permit(key?.slots, account?.slots)
        : longest(failed, this.#timing.nowMs());
    return refused instanceof Promise ? refused.then(finish) : finish(refused);
  }

  takeTokens(
    permit: Permit | undefined,
    request: TokenRequest,
  ): Permit | LimitRefusal | undefined | Promise<Permit | LimitRefusal | undefined> {
    const { tokens } = request;
    // Images have none: they wait for nobody's debt.
    if (tokens === 0) return permit;
    const nowMs = this.#timing.nowMs();
    const key = this.#useOf(request.key, nowMs);
    const account = this.#useOf(request.account, nowMs);
    const [ofKey, ofAccount] = [key?.tokens, account?.tokens];
    if (ofKey === undefined && ofAccount === undefined) return permit;
    const impossible = findImpossible(tokens, key) ?? findImpossible(tokens, account);
    if (impossible !== undefined) return impossible;
    const needs = [...tokenNeeds(key, tokens), ...tokenNeeds(account, tokens)];
    const refused = this.#take(needs, nowMs);
    const finish = (failed: readonly Need[]) => {
      if (failed.length > 0) return tokenRefusal(failed, [key, account], this.#timing.nowMs());
      const taking =
        permit === undefined || permit === unlimited ? new Permit(undefined, undefined) : permit;
      taking.keep(tokens, ofKey, ofAccount);
      return taking;
    };
    return refused instanceof Promise ? refused.then(finish) : finish(refused);
  }

  release(permit: Permit, actualTokens: number, nowMs: number): void {
    permit.close(actualTokens, nowMs);
  }

  look(key: LimitedOwner, account: LimitedOwner): LimitState | undefined {
    const nowMs = this.#timing.nowMs();
    const ofKey = this.#useOf(key, nowMs);
    const ofAccount = this.#useOf(account, nowMs);
    const requests = tighter(ofKey?.requests, ofAccount?.requests, nowMs);
    const tokens = tighter(ofKey?.tokens, ofAccount?.tokens, nowMs);
    return requests === undefined && tokens === undefined ? undefined : { requests, tokens };
  }

  forget(id: string): void {
    this.#owners.delete(id);
  }

  /** After the last request: the store is not called again. */
  close(): void {
    this.#borrower.close();
  }

  /** Those that refused; none when all is taken. A refusal takes nothing. */
  #take(needs: readonly Need[], nowMs: number): readonly Need[] | Promise<readonly Need[]> {
    const readiness = needs.map(({ from, cost }) => from.check(cost, nowMs));
    const refused = needs.filter((_, at) => readiness[at] === "refused");
    if (refused.length > 0) return refused;
    const missing = needs.filter((_, at) => readiness[at] === "ask");
    const ready = needs.filter((_, at) => readiness[at] === "ready");
    for (const { from, cost } of ready) from.reserve(cost, nowMs);
    if (missing.length > 0) return this.#borrow(ready, missing);
    for (const { from, cost } of ready) from.confirm(cost);
    return [];
  }

  async #borrow(ready: readonly Need[], missing: readonly Need[]): Promise<readonly Need[]> {
    const answers = await Promise.allSettled(missing.map(({ from, cost }) => from.ask(cost)));
    const isGranted = (at: number) => {
      const answer = answers[at];
      return answer?.status === "fulfilled" && answer.value;
    };
    const refused = missing.filter((_, at) => !isGranted(at));
    if (refused.length === 0) {
      for (const { from, cost } of ready) from.confirm(cost);
      return refused;
    }
    const nowMs = this.#timing.nowMs();
    for (const { from, cost } of ready) from.putBack(cost, nowMs);
    for (const { from, cost } of missing.filter((_, at) => isGranted(at))) from.refund(cost, nowMs);
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return refused;
  }

  #useOf({ id, kind, limits, version = 0 }: LimitedOwner, nowMs: number): SharedUse | undefined {
    if (limits === undefined) return undefined;
    const known = this.#owners.get(id);
    if (known !== undefined) {
      if (known.limits !== limits) known.change(limits, version, nowMs);
      return known;
    }
    const { rpm, tpm, concurrency } = limits;
    if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined;
    const fresh = new SharedUse({ id, kind, limits, version }, this.#borrower, nowMs);
    this.#owners.set(id, fresh);
    return fresh;
  }
}

/** What one owner uses, as far as this process knows. */
class SharedUse {
  readonly kind: OwnerKind;
  readonly slots: BorrowedSlots;
  limits: Limits;
  requests: BorrowedRate | undefined;
  tokens: BorrowedRate | undefined;
  readonly #id: string;
  readonly #borrower: Borrower;

  constructor(
    owner: LimitedOwner & { readonly limits: Limits; readonly version: number },
    borrower: Borrower,
    nowMs: number,
  ) {
    const { id, kind, limits, version } = owner;
    this.#id = id;
    this.#borrower = borrower;
    this.kind = kind;
    this.limits = limits;
    this.slots = new BorrowedSlots({ ownerId: id, limit: limits.concurrency, version, borrower });
    this.change(limits, version, nowMs);
  }

  change(limits: Limits, version: number, nowMs: number): void {
    this.limits = limits;
    const rate = (kind: "requests" | "tokens", limit: number | undefined) =>
      this.#changed({ kind, perMinute: limit, version, nowMs });
    this.requests = rate("requests", limits.rpm);
    this.tokens = rate("tokens", limits.tpm);
    this.slots.change(limits.concurrency, version);
  }

  #changed(options: {
    readonly kind: "requests" | "tokens";
    readonly perMinute: number | undefined;
    readonly version: number;
    readonly nowMs: number;
  }): BorrowedRate | undefined {
    const { kind, perMinute, version, nowMs } = options;
    if (perMinute === undefined) return undefined;
    const rate = this[kind];
    if (rate === undefined) {
      const borrower = this.#borrower;
      return new BorrowedRate({ ownerId: this.#id, kind, perMinute, version, borrower });
    }
    rate.change(perMinute, version, nowMs);
    return rate;
  }
}

/** What a request needs of one limit. */
interface Need {
  readonly owner: OwnerKind;
  readonly from: Borrowed;
  readonly cost: number;
}

function entryNeeds(use: SharedUse | undefined): Need[] {
  if (use === undefined) return [];
  const { kind: owner, requests, slots } = use;
  const place = { owner, from: slots, cost: 1 };
  return requests === undefined ? [place] : [{ owner, from: requests, cost: 1 }, place];
}

function tokenNeeds(use: SharedUse | undefined, cost: number): Need[] {
  return use?.tokens === undefined ? [] : [{ owner: use.kind, from: use.tokens, cost }];
}

/** Every limit that refuses a request reserves a slot, not only the limit that the reply names. */
function longest(refused: readonly Need[], nowMs: number): LimitRefusal {
  return refused
    .map(({ owner, from, cost }) => ({
      kind: from.kind,
      owner,
      limit: from.limit,
      needed: cost,
      retryAfterMs: from.retryAfterMs(cost, nowMs),
    }))
    .reduce((one, next) => (isLonger(next, one) ? next : one));
}

/** The next attempt needs a request, too: this one has used its own. */
function tokenRefusal(
  refused: readonly Need[],
  uses: readonly (SharedUse | undefined)[],
  nowMs: number,
): LimitRefusal {
  const told = longest(refused, nowMs);
  const requestMs = uses.map((use) => Math.ceil(use?.requests?.waitMs(1, nowMs) ?? 0));
  return { ...told, retryAfterMs: Math.max(told.retryAfterMs ?? 0, ...requestMs) };
}
