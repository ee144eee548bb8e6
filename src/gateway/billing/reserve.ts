import { ApiError } from "../../base/errors.ts";
import { toUsd } from "../../base/money.ts";
import type { Model, PriceInForce } from "../../catalog/model.ts";
import type { KeyRecord } from "../../keys/directory.ts";
import { cover, type Need, partsOf, worstCase } from "../../ledger/need.ts";
import { type BudgetPot, leastFree } from "../../ledger/purse.ts";
import type { Purse } from "../../ledger/purses.ts";
import { type LimitRefusal, type LimitRequest, Permit } from "../../limits/limiter.ts";
import type { ActiveCall } from "../active-calls.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenClaim } from "../idempotency.ts";
import type { GatewayParts } from "../pipeline.ts";
import { Charge, storeUnavailable } from "./charge.ts";
import { checkStanding } from "./standing.ts";

export interface AdmitOptions {
  readonly parts: GatewayParts;
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly purse: Purse;
  readonly model: Model;
  readonly pricing: PriceInForce;
  readonly claim: OpenClaim | undefined;
  readonly call: ActiveCall;
}

type Caller = Pick<AdmitOptions, "key" | "purse">;

/**
 * The first look at a request with a known key: is its account in good standing, and is there a
 * request and a place left for it? Whatever becomes of it, it has used one request.
 */
export function enter(parts: GatewayParts, exchange: Exchange, caller: Caller): void {
  if (isLimited(caller)) {
    const taken = parts.limiter.enter({ ...ownersOf(caller), nowMs: parts.clock.nowMs() });
    if (!(taken instanceof Permit)) {
      checkStanding(caller.purse);
      throw overLimit(taken);
    }
    exchange.permit = taken;
  }
  checkStanding(caller.purse);
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
 * Lets a call in, or says why not: limits, then money. All in memory and in one go, so that no two
 * calls can be let in on the same dollar.
 */
export function admit(options: AdmitOptions, need: Need, tokens: number): Charge {
  const { parts, exchange, key, purse, claim } = options;
  // Not the request's own moment: its body may have taken a minute.
  const nowMs = parts.clock.nowMs();
  checkStanding(purse);
  if (parts.journal.isFailing) throw storeUnavailable();
  takeTokens(options, { tokens, nowMs });
  const budgets = parts.purses.budgetsOf({
    purse,
    key,
    // The request's own moment, which its receipt has too.
    nowMs: exchange.startedMs,
  });
  const covered = cover(need, leastFree(purse.pot, budgets));
  const hold =
    covered &&
    parts.purses.take(covered.nano, {
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
      keyLimits: parts.purses.limitsVersionOf(key.id, key),
      accountLimits: parts.purses.limitsVersionOf(purse.account.id, purse.account),
      hold: partsOf(need.units, covered.cap),
    },
    cap: covered.cap,
    permit,
    claim,
    call: options.call,
    parts,
  });
}

function takeTokens(
  options: AdmitOptions,
  { tokens, nowMs }: { readonly tokens: number; readonly nowMs: number },
): void {
  if (!isLimited(options)) return;
  const { parts, exchange } = options;
  const owners = ownersOf(options);
  const taken = parts.limiter.takeTokens(exchange.permit, { ...owners, tokens, nowMs });
  if (taken !== undefined && !(taken instanceof Permit)) throw overLimit(taken);
  exchange.permit = taken;
}

function overLimit({ kind, owner, limit, needed, retryAfterMs }: LimitRefusal): ApiError {
  if (retryAfterMs === undefined)
    return new ApiError({
      code: "rate_limit_exceeded",
      message: `This request counts for about ${needed} tokens, more than the ${owner}'s limit of ${limit} tokens per minute: it can never be admitted. Ask for less, or for a higher limit.`,
      retryable: false,
    });
  const what =
    kind === "concurrency"
      ? `${limit} ${limit === 1 ? "request" : "requests"} at a time`
      : `${limit} ${kind} per minute`;
  return new ApiError({
    code: "rate_limit_exceeded",
    message: `The ${owner}'s limit of ${what} is reached. Try again in ${toSeconds(retryAfterMs)} s.`,
    retryAfterMs,
  });
}

const toSeconds = (ms: number) => (ms / 1000).toFixed(ms < 10_000 ? 2 : 0);

function notCovered(options: {
  readonly need: Need;
  readonly purse: Purse;
  readonly budgets: readonly BudgetPot[];
}): ApiError {
  const { need, purse, budgets } = options;
  const { account, pot } = purse;
  const needed = worstCase(need, need.cap);
  const isShort = cover(need, pot.free) === undefined;
  const budget = isShort ? undefined : budgets.find(({ free }) => cover(need, free) === undefined);
  if (budget !== undefined) {
    const owner = budget.ownerId === account.id ? "account" : "key";
    return new ApiError({
      code: "budget_exceeded",
      message: `This request may cost up to ${toUsd(needed)} USD, and the ${owner}'s budget of ${toUsd(budget.limit)} USD has ${toUsd(atLeastZero(budget.free))} USD left and ${toUsd(budget.held)} USD held by running requests. ${advice(need)}${renewal(budget)}, or ask for a higher budget.`,
    });
  }
  const command =
    account.name === "default"
      ? " Add credit: ./svc account credit default 5 --reference top-up-1"
      : " Ask the operator to add credit.";
  return new ApiError({
    code: "insufficient_quota",
    message: `This request may cost up to ${toUsd(needed)} USD; the account has ${toUsd(pot.free)} USD free and ${toUsd(pot.held)} USD held by running requests. ${advice(need)}.${command}`,
  });
}

const atLeastZero = (nano: bigint) => (nano > 0n ? nano : 0n);

/** Only chats have a length that a caller can lower. */
const advice = ({ perToken }: Need) =>
  perToken > 0n ? "Lower max_tokens or shorten the prompt" : "Send less";

function renewal({ periodEndMs }: BudgetPot): string {
  return Number.isFinite(periodEndMs)
    ? `, wait until ${new Date(periodEndMs).toISOString()}, when it begins anew`
    : "";
}
