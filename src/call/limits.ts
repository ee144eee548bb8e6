import { fromDecimal, toDecimal } from "../base/decimal.ts";

export const budgetPeriods = ["total", "day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** At most so much, ever, or in a day or a month of UTC. */
export interface BudgetLimit {
  readonly nano: bigint;
  readonly period: BudgetPeriod;
}

/** What a key or an account may use; what is absent is not limited. */
export interface Limits {
  /** Requests per minute. */
  readonly rpm?: number | undefined;
  /** Tokens per minute. */
  readonly tpm?: number | undefined;
  /** Requests at a time. */
  readonly concurrency?: number | undefined;
  readonly budget?: BudgetLimit | undefined;
}

/** Reads `5`, `5/day` or `12.50/month` (USD); undefined when it is none of these. */
export function fromBudgetText(text: string): BudgetLimit | undefined {
  const [amount = "", period = "total", ...more] = text.split("/");
  const known = budgetPeriods.find((word) => word === period);
  const nano = fromDecimal(amount, 9);
  if (known === undefined || nano === undefined || more.length > 0) return undefined;
  return { nano, period: known };
}

export function toBudgetText({ nano, period }: BudgetLimit): string {
  const amount = toDecimal(nano, 9, 2);
  return period === "total" ? amount : `${amount}/${period}`;
}

/** When the period that a moment lies in began; 0 for a budget without periods. */
export function periodStartMs(period: BudgetPeriod, nowMs: number): number {
  if (period === "total") return 0;
  const now = new Date(nowMs);
  const day = period === "day" ? now.getUTCDate() : 1;
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day);
}

/** When the next period begins; never for a budget without periods. */
export function periodEndMs(period: BudgetPeriod, nowMs: number): number {
  if (period === "total") return Number.POSITIVE_INFINITY;
  const start = new Date(periodStartMs(period, nowMs));
  return period === "day"
    ? start.getTime() + 86_400_000
    : Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
}

/** One period of a budget. */
export interface BudgetSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The present one first; the one before may still get calls that began at its end. */
export function budgetSpans(period: BudgetPeriod, nowMs: number): readonly BudgetSpan[] {
  const fromMs = periodStartMs(period, nowMs);
  const toMs = Math.min(periodEndMs(period, nowMs), Number.MAX_SAFE_INTEGER);
  const present = { fromMs, toMs };
  return period === "total"
    ? [present]
    : [present, { fromMs: periodStartMs(period, fromMs - 1), toMs: fromMs }];
}
