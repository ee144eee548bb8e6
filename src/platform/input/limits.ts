import { maxEntryNano } from "../../base/money.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { type BudgetLimit, fromBudgetText, type Limits, toBudgetText } from "../../call/limits.ts";
import type { Input, LimitsView, limitBody } from "../http/schemas.ts";

/** As typed: `60`, `5/day`; `none` removes a limit, and omitted limits stay. */
export type LimitInputs = Input<typeof limitBody>;

const most = 1_000_000_000;

/** Undefined when nothing is limited any more. */
export function readLimits(before: Limits | undefined, inputs: LimitInputs): Limits | undefined {
  const after: Limits = {
    rpm: readWhole("rpm", inputs.rpm, before?.rpm),
    tpm: readWhole("tpm", inputs.tpm, before?.tpm),
    concurrency: readWhole("concurrency", inputs.concurrency, before?.concurrency),
    budget: readBudget(inputs.budget, before?.budget),
  };
  return Object.values(after).every((value) => value === undefined) ? undefined : after;
}

/** A change that changes nothing is neither written nor audited. */
export const isSameLimits = (one: Limits | undefined, other: Limits | undefined): boolean =>
  Bun.deepEquals(toLimitsView(one), toLimitsView(other));

export function checkNamed(inputs: LimitInputs): void {
  const { rpm, tpm, concurrency, budget } = inputs;
  if ([rpm, tpm, concurrency, budget].every((text) => text === undefined))
    throw new Problem({
      code: "invalid",
      message: "Nothing to change. Set rpm, tpm, concurrency or budget to a value or none.",
    });
}

const limitTitles = {
  rpm: "Requests per minute",
  tpm: "Tokens per minute",
  concurrency: "Concurrency",
} as const;

function readWhole(
  field: keyof typeof limitTitles,
  text: string | undefined,
  before: number | undefined,
): number | undefined {
  if (text === undefined) return before;
  if (text === "none") return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most)
    throw invalid({
      [field]: `${limitTitles[field]} must be a whole number from 1 to 1,000,000,000, or none, not "${text}".`,
    });
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
    throw invalid({
      budget: `Budget must be an amount in USD such as 5, 5/day or 12.50/month, or none, not "${text}".`,
    });
  return budget;
}

/** As they are typed; null: not limited. */
export function toLimitsView(limits: Limits = {}): LimitsView {
  const { rpm, tpm, concurrency, budget } = limits;
  return {
    rpm: rpm?.toString() ?? null,
    tpm: tpm?.toString() ?? null,
    concurrency: concurrency?.toString() ?? null,
    budget: budget === undefined ? null : toBudgetText(budget),
  };
}
