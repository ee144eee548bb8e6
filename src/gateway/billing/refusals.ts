import { ApiError } from "../../base/errors.ts";
import { toUsd } from "../../base/money.ts";
import { cover, type Need, worstCase } from "../../ledger/need.ts";
import type { BudgetPot } from "../../ledger/purse.ts";
import type { Purse, Purses } from "../../ledger/purses.ts";
import type { LimitRefusal } from "../../limits/refusal.ts";

export function storeUnavailable(cause?: unknown): ApiError {
  return new ApiError({
    code: "store_unavailable",
    message:
      "The gateway cannot write to its ledger and is not accepting requests. Try again in a moment.",
    retryAfterMs: 1_000,
    detail: cause === undefined ? undefined : String(cause),
    cause,
  });
}

/** For what a call reads or writes in the store: a failure is no fault of the call. */
export const orUnavailable = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((cause: unknown) => {
    throw cause instanceof ApiError ? cause : storeUnavailable(cause);
  });

/** Not for want of money: it would be there, but a gateway that has gone silent has it. */
export function fundsUnreachable(): ApiError {
  return new ApiError({
    code: "store_unavailable",
    message:
      "Part of this account's credit is reserved by a gateway that is not responding. Try again in a moment.",
    retryAfterMs: 5_000,
  });
}

export function accountSuspended(): ApiError {
  return new ApiError({
    code: "account_suspended",
    message: "This key's account is suspended. Ask the operator to resume it.",
  });
}

export function overLimit({ kind, owner, limit, needed, retryAfterMs }: LimitRefusal): ApiError {
  if (retryAfterMs === undefined)
    return new ApiError({
      code: "rate_limit_exceeded",
      message: `This request needs about ${count(needed)} tokens, more than the ${owner}'s limit of ${count(limit)} tokens per minute. Reduce the request or ask for a higher limit.`,
      retryable: false,
    });
  const what =
    kind === "concurrency"
      ? `${count(limit)} concurrent ${limit === 1 ? "request" : "requests"}`
      : `${count(limit)} ${limit === 1 ? kind.slice(0, -1) : kind} per minute`;
  return new ApiError({
    code: "rate_limit_exceeded",
    message: `This ${owner} has reached its limit of ${what}. Try again in ${toSeconds(retryAfterMs)} s.`,
    retryAfterMs,
  });
}

/** For people: `12,345`. Made once: calls are refused by the thousand. */
const figures = new Intl.NumberFormat("en");
const count = (value: number) => figures.format(value);

const toSeconds = (ms: number) => (ms / 1000).toFixed(ms < 10_000 ? 2 : 0);

export function notCovered(options: {
  readonly need: Need;
  readonly purse: Purse;
  readonly budgets: readonly BudgetPot[];
  readonly purses: Pick<Purses, "shown">;
  readonly creditAdvice: (account: Purse["account"]) => string;
}): ApiError {
  const { need, purse, budgets, purses } = options;
  const { account } = purse;
  const pot = purses.shown(purse.pot);
  const needed = worstCase(need, need.cap);
  const isShort = cover(need, pot.free) === undefined;
  const budget = isShort ? undefined : budgets.find(({ free }) => cover(need, free) === undefined);
  if (budget !== undefined) {
    const { limit, free, held } = purses.shown(budget);
    const owner = budget.ownerId === account.id ? "account" : "key";
    return new ApiError({
      code: "budget_exceeded",
      message: `This request can cost up to ${toUsd(needed)} USD, but the ${owner}'s ${periodOf(budget)}budget of ${toUsd(limit)} USD has ${toUsd(atLeastZero(free))} USD left and ${toUsd(held)} USD held for requests in flight. ${advice(need)}${renewal(budget)}, or ask for a higher budget.`,
    });
  }
  return new ApiError({
    code: "insufficient_quota",
    message: `This request can cost up to ${toUsd(needed)} USD, but the account has ${toUsd(pot.free)} USD available and ${toUsd(pot.held)} USD held for requests in flight. ${advice(need)}, or ${options.creditAdvice(account)}`,
  });
}

const atLeastZero = (nano: bigint) => (nano > 0n ? nano : 0n);

/** Only chats have a length that a caller can lower. */
const advice = ({ perToken }: Need) =>
  perToken > 0n ? "Lower max_tokens, shorten the prompt" : "Send less input";

const dayMs = 86_400_000;

/** `daily `, `monthly `, or nothing for a budget that never resets. */
function periodOf({ periodStartMs, periodEndMs }: BudgetPot): string {
  if (!Number.isFinite(periodEndMs)) return "";
  return periodEndMs - periodStartMs <= dayMs ? "daily " : "monthly ";
}

function renewal({ periodEndMs }: BudgetPot): string {
  return Number.isFinite(periodEndMs)
    ? `, wait until the budget resets at ${new Date(periodEndMs).toISOString()}`
    : "";
}
