import type { Clock } from "../../base/clock.ts";
import { toUsd } from "../../base/money.ts";
import type { LedgerReports, ProviderSums } from "../../ledger/reports.ts";
import { dayMs } from "../../ledger/rollups.ts";
import { percentileMs } from "../usage/percentile.ts";
import type { LastDayView } from "./schemas.ts";

/** The page asks every few seconds; sums of a day do not change that fast. */
const freshMs = 20_000;

/** What each provider did in the last 24 hours, read off this thread and kept for some seconds. */
export class LastDay {
  readonly #reports: Pick<LedgerReports, "providers">;
  readonly #clock: Clock;
  #readMs = Number.NEGATIVE_INFINITY;
  #read: Promise<ReadonlyMap<string, LastDayView>> = Promise.resolve(new Map());

  constructor(reports: Pick<LedgerReports, "providers">, clock: Clock) {
    this.#reports = reports;
    this.#clock = clock;
  }

  /** By provider. Rejects where the sums cannot be read. */
  views(): Promise<ReadonlyMap<string, LastDayView>> {
    const nowMs = this.#clock.nowMs();
    if (Math.abs(nowMs - this.#readMs) < freshMs) return this.#read;
    this.#readMs = nowMs;
    this.#read = this.#reports
      .providers(nowMs - dayMs)
      .then((all) => new Map(all.map((sums) => [sums.provider, toLastDay(sums)])));
    this.#read.catch(() => (this.#readMs = Number.NEGATIVE_INFINITY));
    return this.#read;
  }
}

export const idleDay: LastDayView = {
  calls: 0,
  errors: 0,
  latency_p95_ms: null,
  cost_usd: null,
  cost_known_calls: 0,
  shortfall_usd: "0.00",
};

function toLastDay(sums: ProviderSums): LastDayView {
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
