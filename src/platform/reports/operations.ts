import { toDecimal } from "../../base/decimal.ts";
import { toUsd } from "../../base/money.ts";
import { invalid } from "../../base/problem.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import { dayOf } from "../../base/time-zone.ts";
import { emptyRollup, mergeInto, type Rollup } from "../../ledger/rollups.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { closeSums } from "../accounts/funds.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { type DaySpan, toDaySpan, toTimeZone } from "../input/days.ts";
import { accountNames } from "../input/values.ts";
import type { MarginRow, MarginView } from "./schemas.ts";
import { SumsBy, sumsByDay } from "./sums.ts";

const marginGroups = ["model", "account", "provider"] as const;
type MarginGroup = (typeof marginGroups)[number];

export interface ReportOperations {
  /** What callers paid and what vendors cost, for a range of days, both included. Default: this month. */
  margin(input: {
    by?: string | undefined;
    from?: string | undefined;
    to?: string | undefined;
    time_zone?: string | undefined;
  }): Promise<MarginView>;
}

export const reportAudits = { margin: null } satisfies Audits<ReportOperations>;

/** The longest range of a report: ten years. */
const mostDays = 3_660;

export function reportOperations(
  dependencies: MoneyDependencies,
): Unbound<ReportOperations, typeof reportAudits> {
  const { accounts, ledger, clock } = dependencies;
  return {
    async margin({ by: word = "model", from, to, time_zone: zone }) {
      const by = marginGroups.find((known) => known === word);
      if (by === undefined)
        throw invalid({
          by: `by must be ${eitherOf(marginGroups)}, not "${word}".`,
        });
      const days = readDays({ from, to, zone, nowMs: clock.nowMs() });
      const { fromMs, toMs } = days;
      const names = by === "account" ? await accountNames(accounts) : new Map<string, string>();
      const freshness = await closeSums(dependencies);
      const sums = new SumsBy(nameBy[by]);
      for await (const rollups of sumsByDay(ledger, { fromMs, toMs }))
        for (const rollup of rollups) sums.add(withKnownCost(rollup));
      const total = emptyRollup({ hourMs: 0, accountId: "", keyId: "", model: "", provider: "" });
      const rows = sums.dearestFirst.map(([name, sum]) => {
        mergeInto(total, sum);
        return toMarginRow(names.get(name) ?? name, sum);
      });
      return {
        by,
        from: days.from,
        to: days.to,
        time_zone: days.timeZone,
        ...freshness,
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
  readonly zone: string | undefined;
  readonly nowMs: number;
}): DaySpan {
  const { from, to, zone, nowMs } = options;
  const wanted = toTimeZone(zone);
  const today = dayOf(nowMs, wanted);
  const last = to ?? today;
  const first = from ?? `${(last < today ? last : today).slice(0, 8)}01`;
  return toDaySpan({ from: first, to: last, timeZone: wanted, mostDays, mostWords: "ten years" });
}

/** Where no vendor was reached, nothing was bought: the cost is known to be zero. */
function withKnownCost(rollup: Rollup): Rollup {
  if (rollup.provider !== "") return rollup;
  return { ...rollup, vendorKnown: rollup.receipts, chargedKnown: rollup.charged };
}

function toMarginRow(name: string, sum: Rollup): MarginRow {
  const { vendorKnown: known, chargedKnown } = sum;
  const margin = chargedKnown - sum.vendorCost;
  // Calls that reached no vendor, and free ones, say nothing about the others.
  const isNothingKnown =
    known === 0 || (chargedKnown === 0n && sum.vendorCost === 0n && known < sum.receipts);
  return {
    name,
    receipts: sum.receipts,
    charged_usd: toUsd(sum.charged),
    vendor_cost_usd: isNothingKnown ? null : toUsd(sum.vendorCost),
    margin_usd: isNothingKnown ? null : toUsd(margin),
    margin_percent: chargedKnown === 0n ? null : toPercent(margin, chargedKnown),
    charged_known_usd: toUsd(chargedKnown),
    known_cost: known,
    unknown_cost: sum.receipts - known,
    shortfall_usd: toUsd(sum.cost - sum.charged),
  };
}

/** To the nearest tenth; halves away from zero. */
function toPercent(part: bigint, whole: bigint): string {
  const size = part < 0n ? -part : part;
  const tenths = (size * 2_000n + whole) / (whole * 2n);
  return toDecimal(part < 0n ? -tenths : tenths, 1, 1);
}
