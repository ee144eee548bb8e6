import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Configuration } from "../config/load.ts";
import { applyRetention, type Days } from "../ledger/retention.ts";
import { exportDay } from "../platform/requests/export/export.ts";
import type { Store } from "../store/store.ts";
import { withLedger } from "./store.ts";
import { Ticker } from "./ticker.ts";

const everyMs = 3_600_000;
/** Encoded in one turn of the event loop, beside calls. */
const exportedAtOnce = 250;

export interface RetentionJob {
  readonly configuration: Configuration;
  readonly store: Pick<Store, "retention">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes receipts that need not be kept any more: at the start, and every hour. */
export function startRetention(job: RetentionJob): { close(): Promise<void> } {
  const ending = new AbortController();
  const ticker = new Ticker({
    what: "delete old receipts",
    log: job.log,
    everyMs,
    isAtOnce: true,
    work: () => runRetention(job, ending.signal),
  });
  return {
    close() {
      ending.abort();
      return ticker.close();
    },
  };
}

/** Once. Days go to a directory first, where there is one in the settings. */
export function runRetention(job: RetentionJob, signal?: AbortSignal): Promise<void> {
  const { configuration, store, clock, log } = job;
  const {
    receiptsDays: days,
    receiptsExportDir: dir,
    receiptsExportFormat: format,
  } = configuration.settings;
  const toFile =
    dir === undefined
      ? undefined
      : (day: Days) =>
          withLedger(configuration, async (ledger) => {
            await exportDay(ledger, { day, dir, format, receiptsAtOnce: exportedAtOnce });
          });
  const nowMs = clock.nowMs();
  return applyRetention({ store: store.retention, days, nowMs, exportDay: toFile, log, signal });
}
