import type { Clock } from "../../base/clock.ts";
import type { Freshness } from "../../base/freshness.ts";
import { toUsd } from "../../base/money.ts";
import type { LedgerReports, ProviderSums } from "../../ledger/reports.ts";
import { dayMs } from "../../ledger/rollups.ts";
import { toFreshness } from "../reports/freshness.ts";
import { percentileMs } from "../usage/percentile.ts";
import type { LastDayView } from "./schemas.ts";

/** The page asks every few seconds; sums of a day do not change that fast. */
const freshMs = 20_000;

/** What each provider did in the last 24 hours, read off this thread and kept for some seconds. */
export class LastDay {
  readonly #reports: Reports;
  readonly #clock: Clock;
  #readMs = Number.NEGATIVE_INFINITY;
  #read: Promise<(provider: string) => LastDayView> | undefined;

  constructor(reports: Reports, clock: Clock) {
    this.#reports = reports;
    this.#clock = clock;
  }

  /** By provider. Rejects where the sums cannot be read. */
  views(): Promise<(provider: string) => LastDayView> {
    const nowMs = this.#clock.nowMs();
    if (this.#read !== undefined && Math.abs(nowMs - this.#readMs) < freshMs) return this.#read;
    this.#readMs = nowMs;
    const read = this.#readNow(nowMs);
    read.catch(() => {
      if (this.#read === read) this.#read = undefined;
    });
    this.#read = read;
    return read;
  }

  async #readNow(nowMs: number): Promise<(provider: string) => LastDayView> {
    const freshness = toFreshness(await this.#reports.catchUp(undefined), this.#clock);
    const all = await this.#reports.providers(nowMs - dayMs);
    const days = new Map(all.map((sums) => [sums.provider, toLastDay(sums)]));
    return (provider) => ({ ...(days.get(provider) ?? idleDay), ...freshness });
  }
}

type Reports = Pick<LedgerReports, "providers" | "catchUp">;
type Day = Omit<LastDayView, keyof Freshness>;

const idleDay: Day = {
  calls: 0,
  errors: 0,
  latency_p95_ms: null,
  cost_usd: null,
  cost_known_calls: 0,
  shortfall_usd: "0.00",
};

function toLastDay(sums: ProviderSums): Day {
  const { receipts, failures, fallbacks, vendorCost, vendorKnown, shortfall } = sums;
  const { durations, shortestMs, longestMs } = sums;
  return {
    calls: receipts + fallbacks,
    errors: failures + fallbacks,
    latency_p95_ms: percentileMs({ counts: durations, shortestMs, longestMs }, 0.95),
    cost_usd: vendorKnown === 0 ? null : toUsd(vendorCost),
    cost_known_calls: vendorKnown,
    shortfall_usd: toUsd(shortfall),
  };
}
