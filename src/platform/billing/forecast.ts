import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { periodEndMs } from "../../call/limits.ts";
import type { Account } from "../../ledger/account.ts";
import { dayMs, toDay } from "../../ledger/rollups.ts";
import { type DaySum, toDayText } from "../reports/sums.ts";
import type { BillingView } from "./schemas.ts";

/** Number of full days that the pace is based on. */
export const paceDays = 7;
/** No end date is forecast beyond this. */
const farMs = 10n * 366n * BigInt(dayMs);

type Forecast = Pick<BillingView, "forecast_usd" | "forecast_basis" | "runs_out_at">;

/** A linear projection of the spend of the last full days. */
export function toForecast(options: {
  readonly account: Account;
  readonly balance: bigint;
  /** This month so far. */
  readonly spent: bigint;
  readonly sums: readonly DaySum[];
  /** What the clocks show in the zone of the days. */
  readonly nowMs: number;
  readonly realMs: number;
}): Forecast {
  const { account, balance, spent, sums, nowMs, realMs } = options;
  const todayMs = toDay(nowMs);
  const firstFullMs = toDay(account.createdAtMs + dayMs - 1);
  const fromMs = Math.max(todayMs - paceDays * dayMs, firstFullMs);
  const days = (todayMs - fromMs) / dayMs;
  if (days < 1)
    return {
      forecast_usd: null,
      forecast_basis: "No full day of usage yet.",
      runs_out_at: null,
    };
  const pace = sums
    .filter((sum) => sum.dayMs >= fromMs && sum.dayMs < todayMs)
    .reduce((total, { charged }) => total + charged, 0n);
  const spanMs = BigInt(days * dayMs);
  const leftMs = BigInt(periodEndMs("month", nowMs) - nowMs);
  const span =
    days === 1
      ? `on the last full day (${toDayText(fromMs)})`
      : `over the last ${days} full days (${toDayText(fromMs)} to ${toDayText(todayMs - dayMs)})`;
  return {
    forecast_usd: toUsd(spent + (pace * leftMs) / spanMs),
    forecast_basis: `${aboutUsd(pace)} USD was spent ${span}. The forecast assumes that pace for the rest of the month, on top of the ${aboutUsd(spent)} USD spent so far.`,
    runs_out_at: runsOutAt({ balance, pace, spanMs, nowMs: realMs }),
  };
}

/** In a sentence, four decimals are enough. */
const aboutUsd = (nano: bigint) => toUsd(((nano + 50_000n) / 100_000n) * 100_000n);

function runsOutAt(options: {
  readonly balance: bigint;
  readonly pace: bigint;
  readonly spanMs: bigint;
  readonly nowMs: number;
}): string | null {
  const { balance, pace, spanMs, nowMs } = options;
  if (pace === 0n) return null;
  const inMs = (balance * spanMs) / pace;
  return inMs > farMs ? null : toDateText(nowMs + Number(inMs));
}
