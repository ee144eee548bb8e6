import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Model, PriceInForce } from "../../catalog/model.ts";
import type { KeyRecord } from "../../keys/directory.ts";
import type { Journal } from "../../ledger/journal.ts";
import {
  type Cover,
  cover,
  holdParts,
  leastCase,
  type Need,
  worstCase,
} from "../../ledger/need.ts";
import { type BudgetPot, leastFree } from "../../ledger/purse.ts";
import type { Purse, Purses } from "../../ledger/purses.ts";
import { Permit } from "../../limits/permit.ts";
import type { LimitRefusal } from "../../limits/refusal.ts";
import type { RequestLimiter, TokenRequest } from "../../limits/request-limiter.ts";
import { type ActiveCall, callerLeft } from "../active-calls.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenClaim } from "../idempotency.ts";
import { type CallCharge, Charge } from "./charge.ts";
import {
  accountSuspended,
  fundsUnreachable,
  notCovered,
  orUnavailable,
  overLimit,
  storeUnavailable,
} from "./refusals.ts";

export interface ReserveOptions {
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly purse: Purse;
  readonly model: Model;
  readonly pricing: PriceInForce;
  readonly claim: OpenClaim | undefined;
  readonly call: ActiveCall;
}

/** What admits calls and charges them. The bench puts one in its place that does neither. */
export interface Billing {
  /**
   * The first check of a request whose key is known: standing, requests per minute, concurrency.
   * A promise where limits are shared and none of a limit is in hand.
   */
  enter(exchange: Exchange, key: KeyRecord): Purse | Promise<Purse>;
  /**
   * Admits a call or throws the refusal; `tokens` is about what it will use. A promise where limits
   * are shared and too few tokens are in hand.
   */
  reserve(options: ReserveOptions, need: Need, tokens: number): CallCharge | Promise<CallCharge>;
  /**
   * Throws the refusal of a call that needs at least this, and holds nothing: for calls whose need
   * is known only after work that a caller without money should not cause.
   */
  check(options: ReserveOptions, least: Need): void | Promise<void>;
}

export interface LedgerBillingDependencies {
  readonly purses: Purses;
  readonly limiter: RequestLimiter;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** The last sentence of a 402 for want of money: how this account gets more. */
  readonly creditAdvice: (account: Purse["account"]) => string;
}

export class LedgerBilling implements Billing {
  readonly #dependencies: LedgerBillingDependencies;

  constructor(dependencies: LedgerBillingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whatever becomes of the request, it has used one of those per minute. */
  enter(exchange: Exchange, key: KeyRecord): Purse | Promise<Purse> {
    const { purses, limiter, clock } = this.#dependencies;
    const purse = purses.find(key.accountId);
    if (purse === undefined) throw new Error(`the account of key ${key.id} is not loaded`);
    exchange.purse = purse;
    if (isLimited(key, purse)) {
      const taken = limiter.enter(limitRequest({ key, purse, tokens: 0, nowMs: clock.nowMs() }));
      if (taken instanceof Promise)
        return taken.then((answer) => entered(exchange, purse, answer), limitsUnavailable);
      return entered(exchange, purse, taken);
    }
    checkStanding(purse);
    return purse;
  }

  /** Limits, then money. */
  reserve(options: ReserveOptions, need: Need, tokens: number): Charge | Promise<Charge> {
    const { exchange, key, purse } = options;
    const { journal, limiter, clock } = this.#dependencies;
    checkStanding(purse);
    if (journal.isFailing) throw storeUnavailable();
    if (!isLimited(key, purse)) return this.#hold(options, need);
    // Not the request's own moment: its body may have taken a minute.
    const wanted = limitRequest({ key, purse, tokens, nowMs: clock.nowMs() });
    const taken = limiter.takeTokens(exchange.permit, wanted);
    if (taken instanceof Promise)
      return taken.then((answer) => {
        tokensTaken(exchange, answer);
        checkStanding(purse);
        return this.#hold(options, need);
      }, limitsUnavailable);
    tokensTaken(exchange, taken);
    return this.#hold(options, need);
  }

  check(options: ReserveOptions, least: Need): void | Promise<void> {
    const { purse } = options;
    const { journal, purses, creditAdvice } = this.#dependencies;
    checkStanding(purse);
    if (journal.isFailing) throw storeUnavailable();
    const budgets = this.#budgetsOf(options);
    const isCovered = () => cover(least, leastFree(purse.pot, budgets)) !== undefined;
    if (isCovered()) return;
    if (!purses.isLeased) throw notCovered({ need: least, purse, budgets, purses, creditAdvice });
    return this.#cover(options, least, () => (isCovered() ? true : undefined)).then(() => {});
  }

  /**
   * All in memory and in one step, so that no two calls are admitted on the same dollar. A promise
   * only where the account is shared with other processes, and this one has too little of its money.
   */
  #hold(options: ReserveOptions, need: Need): Charge | Promise<Charge> {
    const { purse } = options;
    const { purses, creditAdvice } = this.#dependencies;
    const budgets = this.#budgetsOf(options);
    const covered = cover(need, leastFree(purse.pot, budgets));
    if (purses.isLeased && (covered === undefined || covered.cap < need.cap))
      return this.#reserveLater(options, need);
    const charge = covered && this.#charge({ options, need, budgets, covered });
    if (charge === undefined) throw notCovered({ need, purse, budgets, purses, creditAdvice });
    return charge;
  }

  #budgetsOf({ exchange, key, purse }: ReserveOptions): readonly BudgetPot[] {
    // The request's own moment, which its receipt has too.
    return this.#dependencies.purses.budgetsOf({ purse, key, nowMs: exchange.startedMs });
  }

  #reserveLater(options: ReserveOptions, need: Need): Promise<Charge> {
    const { purse, call } = options;
    return this.#cover(options, need, (isLast) => {
      const budgets = this.#budgetsOf(options);
      const covered = cover(need, leastFree(purse.pot, budgets));
      if (covered === undefined || (covered.cap < need.cap && !isLast)) return undefined;
      if (call.isLeft) throw callerLeft("the caller closed the connection");
      checkStanding(purse);
      return this.#charge({ options, need, budgets, covered });
    });
  }

  /** Borrows what is missing. */
  async #cover<T extends object | true>(
    options: ReserveOptions,
    need: Need,
    take: (isLast: boolean) => T | undefined,
  ): Promise<T> {
    const { purse } = options;
    const { purses, creditAdvice } = this.#dependencies;
    const outcome = await orUnavailable(
      purses.cover([purse.pot, ...this.#budgetsOf(options)], {
        nano: worstCase(need, need.cap),
        least: leastCase(need),
        take,
      }),
    );
    if (outcome === "silent") throw fundsUnreachable();
    if (outcome === "short")
      throw notCovered({ need, purse, budgets: this.#budgetsOf(options), purses, creditAdvice });
    return outcome;
  }

  /** Undefined where the money is gone after all. */
  #charge(of: {
    readonly options: ReserveOptions;
    readonly need: Need;
    readonly budgets: readonly BudgetPot[];
    readonly covered: Cover;
  }): Charge | undefined {
    const { options, need, budgets, covered } = of;
    const { exchange, key, purse, claim } = options;
    const { purses, journal } = this.#dependencies;
    // Only a call that is paid can show that receipts are written again.
    if (!journal.admits(purse.account.id)) throw storeUnavailable();
    const hold = purses.take(covered.nano, {
      purse,
      budgets,
      id: exchange.requestId,
      keyId: key.id,
      startedMs: exchange.startedMs,
    });
    if (hold === undefined) return undefined;
    if (covered.cap < need.cap) exchange.loweredCap = covered.cap;
    exchange.heldBody?.admitted();
    const { permit } = exchange;
    // From now on the charge gives the place back, when the call is settled.
    exchange.permit = undefined;
    return new Charge({
      requestId: exchange.requestId,
      startedMs: exchange.startedMs,
      accountId: purse.account.id,
      keyId: key.id,
      model: options.model,
      pricing: options.pricing,
      hold,
      terms: {
        keyLimits: purses.limitsVersionOf(key.id, key),
        accountLimits: purses.limitsVersionOf(purse.account.id, purse.account),
        hold: holdParts(need.units, covered.cap),
      },
      cap: covered.cap,
      permit,
      claim,
      call: options.call,
      dialect: exchange.dialect,
      isStreamed: exchange.isStreamed,
      trace: exchange.trace,
      dependencies: this.#dependencies,
    });
  }
}

function entered(exchange: Exchange, purse: Purse, taken: Permit | LimitRefusal): Purse {
  if (!(taken instanceof Permit)) {
    checkStanding(purse);
    throw overLimit(taken);
  }
  exchange.permit = taken;
  checkStanding(purse);
  return purse;
}

function tokensTaken(exchange: Exchange, taken: Permit | LimitRefusal | undefined): void {
  if (taken !== undefined && !(taken instanceof Permit)) throw overLimit(taken);
  exchange.permit = taken;
}

/** Limits that cannot be checked admit nobody. */
function limitsUnavailable(cause: unknown): never {
  throw storeUnavailable(cause);
}

/** A suspended account gets nothing: no call, and no reply that was kept. */
export function checkStanding({ account }: Purse): void {
  if (account.suspendedAtMs !== undefined) throw accountSuspended();
}

const isLimited = (key: KeyRecord, { account }: Purse) =>
  key.limits !== undefined || account.limits !== undefined;

function limitRequest(options: {
  readonly key: KeyRecord;
  readonly purse: Purse;
  readonly tokens: number;
  readonly nowMs: number;
}): TokenRequest {
  const { key, tokens, nowMs } = options;
  const { account } = options.purse;
  return {
    key: { id: key.id, kind: "key", limits: key.limits, version: key.limitsVersion },
    account: {
      id: account.id,
      kind: "account",
      limits: account.limits,
      version: account.limitsVersion,
    },
    tokens,
    nowMs,
  };
}
