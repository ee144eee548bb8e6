import { toDecimal } from "../../base/decimal.ts";
import { toUsd } from "../../base/money.ts";
import { invalid } from "../../base/problem.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import { periodStartMs } from "../../call/limits.ts";
import { dayMs, emptyRollup, mergeInto, type Rollup } from "../../ledger/rollups.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { closeSums } from "../accounts/funds.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { accountNames, toDayStart } from "../input/values.ts";
import type { MarginRow, MarginView } from "./schemas.ts";
import { SumsBy, sumsByDay, toDayText } from "./sums.ts";

const marginGroups = ["model", "account", "provider"] as const;
type MarginGroup = (typeof marginGroups)[number];

export interface ReportOperations {
  /** What callers paid and what vendors cost, for a range of days, both included. Default: this month. */
  margin(input: { by?: string; from?: string; to?: string }): Promise<MarginView>;
}

export const reportAudits = { margin: null } satisfies Audits<ReportOperations>;

/** The longest range of a report: ten years. */
const mostDays = 3_660;

export function reportOperations(
  dependencies: MoneyDependencies,
): Unbound<ReportOperations, typeof reportAudits> {
  const { accounts, ledger, clock } = dependencies;
  return {
    async margin({ by: word = "model", from, to }) {
      const by = marginGroups.find((known) => known === word);
      if (by === undefined)
        throw invalid({
          by: `by must be ${eitherOf(marginGroups)}, not "${word}".`,
        });
      const { fromMs, toMs } = readDays({ from, to, nowMs: clock.nowMs() });
      const names = by === "account" ? await accountNames(accounts) : new Map<string, string>();
      await closeSums(dependencies);
      const sums = new SumsBy(nameBy[by]);
      for await (const rollups of sumsByDay(ledger, { fromMs, toMs }))
        for (const rollup of rollups) sums.add(rollup);
      const total = emptyRollup({ hourMs: 0, accountId: "", keyId: "", model: "", provider: "" });
      const rows = sums.dearestFirst.map(([name, sum]) => {
        mergeInto(total, sum);
        return toMarginRow(names.get(name) ?? name, sum);
      });
      return {
        by,
        from: toDayText(fromMs),
        to: toDayText(toMs - dayMs),
        rows,
        total: toMarginRow("total", total),
      };
    },
  };
}

const nameBy: Readonly<Record<MarginGroup, (rollup: Rollup) => string>> = {
  model: ({ model }) => model,
  account: ({ accountId }) => accountId,
  // Calls that ended before any attempt.
  provider: ({ provider }) => (provider === "" ? "none" : provider),
};

/** The days as they are meant: the last one is counted whole. */
function readDays(options: {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly nowMs: number;
}): { readonly fromMs: number; readonly toMs: number } {
  const { from, to, nowMs } = options;
  const lastMs = to === undefined ? periodStartMs("day", nowMs) : toDayStart(to, "to");
  const fromMs =
    from === undefined ? periodStartMs("month", Math.min(lastMs, nowMs)) : toDayStart(from, "from");
  if (fromMs > lastMs)
    throw invalid({
      from: `The first day (${toDayText(fromMs)}) must not be after the last day (${toDayText(lastMs)}).`,
    });
  if (lastMs - fromMs > mostDays * dayMs)
    throw invalid({ from: "The first and last day must be at most ten years apart." });
  return { fromMs, toMs: lastMs + dayMs };
}

function toMarginRow(name: string, sum: Rollup): MarginRow {
  const margin = sum.charged - sum.vendorCost;
  return {
    name,
    receipts: sum.receipts,
    charged_usd: toUsd(sum.charged),
    vendor_cost_usd: toUsd(sum.vendorCost),
    margin_usd: toUsd(margin),
    // Where no cost is known, there is nothing to say.
    margin_percent:
      sum.charged === 0n || sum.vendorKnown === 0 ? null : toPercent(margin, sum.charged),
    unknown_cost: sum.receipts - sum.vendorKnown,
    shortfall_usd: toUsd(sum.cost - sum.charged),
  };
}

/** To the nearest tenth; halves away from zero. */
function toPercent(part: bigint, whole: bigint): string {
  const size = part < 0n ? -part : part;
  const tenths = (size * 2_000n + whole) / (whole * 2n);
  return toDecimal(part < 0n ? -tenths : tenths, 1, 1);
}
