import { maxEntryNano } from "../base/money.ts";
import { Problem } from "../base/problem.ts";
import { type BudgetLimit, fromBudgetText, type Limits, periodStartMs } from "../call/limits.ts";
import type { MoneyParts } from "./money-operations.ts";
import { spentSince } from "./spend.ts";

/** As typed: `60`, `5/day`; `none` takes a limit away, and what is not named stays. */
export interface LimitInputs {
  rpm?: string;
  tpm?: string;
  concurrency?: string;
  budget?: string;
}

const most = 1_000_000_000;

/** Undefined when nothing is limited any more. */
export function readLimits(before: Limits | undefined, inputs: LimitInputs): Limits | undefined {
  const after: Limits = {
    rpm: readWhole("--rpm", inputs.rpm, before?.rpm),
    tpm: readWhole("--tpm", inputs.tpm, before?.tpm),
    concurrency: readWhole("--concurrency", inputs.concurrency, before?.concurrency),
    budget: readBudget(inputs.budget, before?.budget),
  };
  return Object.values(after).every((value) => value === undefined) ? undefined : after;
}

export function checkNamed(inputs: LimitInputs): void {
  const { rpm, tpm, concurrency, budget } = inputs;
  if ([rpm, tpm, concurrency, budget].every((text) => text === undefined))
    throw new Problem(
      "invalid",
      "Say what to limit: --rpm, --tpm, --concurrency or --budget, each with a value or none.",
    );
}

function readWhole(
  flag: string,
  text: string | undefined,
  before: number | undefined,
): number | undefined {
  if (text === undefined) return before;
  if (text === "none") return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most)
    throw new Problem(
      "invalid",
      `${flag} must be a whole number from 1 to 1,000,000,000, or none, not "${text}".`,
    );
  return value;
}

function readBudget(
  text: string | undefined,
  before: BudgetLimit | undefined,
): BudgetLimit | undefined {
  if (text === undefined) return before;
  if (text === "none") return undefined;
  const budget = fromBudgetText(text);
  if (budget === undefined || budget.nano > maxEntryNano)
    throw new Problem(
      "invalid",
      `--budget must be USD, alone or a day or a month, such as 5, 5/day or 12.50/month, or none, not "${text}".`,
    );
  return budget;
}

/**
 * A budget that is given, or counts by another period, begins with what was spent in it already.
 * Called before the limits are in force, when no call counts for it yet; what it gives is called
 * after that, since calls may have come for the budget before it meanwhile.
 */
export async function startBudget(
  parts: MoneyParts,
  owner: {
    readonly id: string;
    readonly filter: { readonly accountId: string } | { readonly keyId: string };
    readonly createdAtMs: number;
    readonly before: Limits | undefined;
    readonly after: Limits | undefined;
  },
): Promise<() => void> {
  const budget = owner.after?.budget;
  const nowMs = parts.clock.nowMs();
  const purses = parts.money?.purses;
  if (budget === undefined) return () => {};
  // Calls under way are settled by the new limit, not only those that come.
  const inForce = () => void purses?.budgetOf(owner.id, budget, nowMs);
  if (owner.before?.budget?.period === budget.period) return inForce;
  const startMs = periodStartMs(budget.period, nowMs);
  const spent = await spentSince(parts, {
    ...owner.filter,
    fromMs: Math.max(startMs, owner.createdAtMs),
    toMs: nowMs + 1,
  });
  await parts.ledger.setBudgetSpend({ ownerId: owner.id, periodStartMs: startMs, spent });
  const tell = () => purses?.setBudgetSpent(owner.id, startMs, spent);
  tell();
  return () => {
    tell();
    inForce();
  };
}
