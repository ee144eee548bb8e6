import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { type BudgetPeriod, type Limits, toBudgetText } from "../../call/limits.ts";
import type { Entry, EntryKind } from "../../ledger/store.ts";

/** Money in these is decimal text in USD, with every digit there is. */
export interface EntryView {
  readonly id: string;
  readonly account: string;
  readonly kind: EntryKind;
  /** Below zero for a withdrawal. */
  readonly amount_usd: string;
  readonly reference: string;
  readonly note: string;
  readonly created_at: string;
}

/** As they are typed; null: not limited. */
export interface LimitsView {
  readonly rpm: string | null;
  readonly tpm: string | null;
  readonly concurrency: string | null;
  readonly budget: string | null;
}

export interface BudgetView {
  readonly limit_usd: string;
  readonly period: BudgetPeriod;
  /** Within the period that goes on now. */
  readonly spent_usd: string;
}

export interface SpendView {
  readonly receipts: number;
  readonly charged_usd: string;
}

export interface AccountSpendView {
  readonly by_day: readonly (SpendView & { readonly day: string })[];
  readonly by_model: readonly (SpendView & { readonly model: string })[];
  readonly by_key: readonly (SpendView & {
    /** An id, or `temporary` for those that no list shows, in one row. */
    readonly key: string;
    readonly name: string | null;
  })[];
}

export interface MarginRow {
  readonly name: string;
  readonly receipts: number;
  readonly charged_usd: string;
  /** Of the receipts whose cost is known. */
  readonly vendor_cost_usd: string;
  readonly margin_usd: string;
  /** Null where nothing was charged. */
  readonly margin_percent: string | null;
  /** Receipts of which nobody said what the vendor asks. */
  readonly unknown_cost: number;
  /** What calls cost beyond what could be taken. */
  readonly shortfall_usd: string;
}

export interface MarginView {
  readonly by: string;
  /** The first and the last day, both counted. */
  readonly from: string;
  readonly to: string;
  readonly rows: readonly MarginRow[];
  readonly total: MarginRow;
}

export function toEntryView(entry: Entry): EntryView {
  return {
    id: entry.id,
    account: entry.accountId,
    kind: entry.kind,
    amount_usd: toUsd(entry.nano),
    reference: entry.reference,
    note: entry.note,
    created_at: toDateText(entry.createdAtMs),
  };
}

export function toLimitsView(limits: Limits = {}): LimitsView {
  const { rpm, tpm, concurrency, budget } = limits;
  return {
    rpm: rpm?.toString() ?? null,
    tpm: tpm?.toString() ?? null,
    concurrency: concurrency?.toString() ?? null,
    budget: budget === undefined ? null : toBudgetText(budget),
  };
}
