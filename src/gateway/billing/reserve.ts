import { ApiError } from "../../base/errors.ts";
import type { Model, PriceInForce } from "../../catalog/model.ts";
import type { KeyRecord } from "../../keys/directory.ts";
import { cover, holdParts, type Need } from "../../ledger/need.ts";
import { leastFree } from "../../ledger/purse.ts";
import type { Purse } from "../../ledger/purses.ts";
import { type LimitRequest, Permit } from "../../limits/limiter.ts";
import type { ActiveCall } from "../active-calls.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenClaim } from "../idempotency.ts";
import { Charge } from "./charge.ts";
import { notCovered, overLimit, storeUnavailable } from "./refusals.ts";

export interface ReserveOptions {
  readonly dependencies: GatewayDependencies;
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly purse: Purse;
  readonly model: Model;
  readonly pricing: PriceInForce;
  readonly claim: OpenClaim | undefined;
  readonly call: ActiveCall;
}

type Caller = Pick<ReserveOptions, "key" | "purse">;

/**
 * The first look at a request with a known key: is its account in good standing, and is there a
 * request and a place left for it? Whatever becomes of it, it has used one request.
 */
export function enter(dependencies: GatewayDependencies, exchange: Exchange, caller: Caller): void {
  if (isLimited(caller)) {
    const taken = dependencies.limiter.enter({
      ...ownersOf(caller),
      nowMs: dependencies.clock.nowMs(),
    });
    if (!(taken instanceof Permit)) {
      checkStanding(caller.purse);
      throw overLimit(taken);
    }
    exchange.permit = taken;
  }
  checkStanding(caller.purse);
}

/** A suspended account gets nothing: no call, and no reply that was kept. */
export function checkStanding({ account }: Purse): void {
  if (account.suspendedAtMs === undefined) return;
  throw new ApiError({
    code: "account_suspended",
    message: "The account of this key is suspended. Ask the operator to resume it.",
  });
}

const isLimited = ({ key, purse }: Caller) =>
  key.limits !== undefined || purse.account.limits !== undefined;

function ownersOf({ key, purse: { account } }: Caller): Omit<LimitRequest, "nowMs"> {
  return {
    key: { id: key.id, kind: "key", limits: key.limits },
    account: { id: account.id, kind: "account", limits: account.limits },
  };
}

/**
 * Admits a call or throws the refusal: limits, then money. All in memory and in one step, so that no
 * two calls are admitted on the same dollar.
 */
export function reserve(options: ReserveOptions, need: Need, tokens: number): Charge {
  const { dependencies, exchange, key, purse, claim } = options;
  // Not the request's own moment: its body may have taken a minute.
  const nowMs = dependencies.clock.nowMs();
  checkStanding(purse);
  if (dependencies.journal.isFailing) throw storeUnavailable();
  takeTokens(options, { tokens, nowMs });
  const budgets = dependencies.purses.budgetsOf({
    purse,
    key,
    // The request's own moment, which its receipt has too.
    nowMs: exchange.startedMs,
  });
  const covered = cover(need, leastFree(purse.pot, budgets));
  const hold =
    covered &&
    dependencies.purses.take(covered.nano, {
      purse,
      budgets,
      id: exchange.requestId,
      keyId: key.id,
      startedMs: exchange.startedMs,
    });
  if (covered === undefined || hold === undefined) throw notCovered({ need, purse, budgets });
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
      keyLimits: dependencies.purses.limitsVersionOf(key.id, key),
      accountLimits: dependencies.purses.limitsVersionOf(purse.account.id, purse.account),
      hold: holdParts(need.units, covered.cap),
    },
    cap: covered.cap,
    permit,
    claim,
    call: options.call,
    dependencies,
  });
}

function takeTokens(
  options: ReserveOptions,
  { tokens, nowMs }: { readonly tokens: number; readonly nowMs: number },
): void {
  if (!isLimited(options)) return;
  const { dependencies, exchange } = options;
  const owners = ownersOf(options);
  const taken = dependencies.limiter.takeTokens(exchange.permit, { ...owners, tokens, nowMs });
  if (taken !== undefined && !(taken instanceof Permit)) throw overLimit(taken);
  exchange.permit = taken;
}
