import { type Clock, nextTurn } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Configuration } from "../config/load.ts";
import { placeOf } from "../exports/progress.ts";
import { longestRestMs, type StreamState } from "../exports/store.ts";
import { applyRetention, type Days } from "../ledger/retention.ts";
import { dayMs } from "../ledger/rollups.ts";
import { exportDay } from "../platform/requests/export/export.ts";
import type { Store } from "../store/store.ts";
import { exportLagMs } from "./exports.ts";
import { withLedger } from "./store.ts";
import { Ticker } from "./ticker.ts";

const everyMs = 3_600_000;
/** Encoded in one turn of the event loop, beside calls. */
const exportedAtOnce = 250;

export interface RetentionJob {
  readonly configuration: Configuration;
  readonly store: Pick<Store, "retention" | "responses" | "exports" | "accounts">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Deletes receipts and stored responses that need not be kept any more: at the start, and every hour.
 * Responses expire also where storing has been switched off since.
 */
export function startRetention(job: RetentionJob): { close(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const shared = { log: job.log, everyMs, isAtOnce: true };
  // Apart: a directory that receipts cannot be exported to keeps no response from being deleted.
  const tickers = [
    new Ticker({ ...shared, what: "delete old receipts", work: () => runRetention(job, signal) }),
    new Ticker({
      ...shared,
      what: "delete expired responses",
      work: () => sweepResponses(job, signal),
    }),
  ];
  return {
    async close() {
      ending.abort();
      await Promise.all(tickers.map((ticker) => ticker.close()));
    },
  };
}

/** Once, in small steps beside calls. */
export async function sweepResponses(
  { store, clock }: Pick<RetentionJob, "store" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const nowMs = clock.nowMs();
  for (;;) {
    if (signal?.aborted === true || !(await store.responses.sweep(nowMs))) return;
    await nextTurn();
  }
}

/** Once. Days go to a directory first, where there is one in the settings. */
export async function runRetention(job: RetentionJob, signal?: AbortSignal): Promise<void> {
  const { configuration, store, log } = job;
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
  const nowMs = await heldBack(job);
  return applyRetention({ store: store.retention, days, nowMs, exportDay: toFile, log, signal });
}

/** For how long an export that fails keeps receipts from being deleted. */
const mostHeldMs = 7 * dayMs;

/** It was tried all the time: where the process was off for days, it gets the time again. */
const isGivenUp = ({ failingSinceMs, retryAtMs }: StreamState, nowMs: number): boolean =>
  failingSinceMs !== undefined &&
  failingSinceMs < nowMs - mostHeldMs &&
  retryAtMs > nowMs - longestRestMs;

/**
 * The moment that receipts are deleted by: now, or an earlier one, so that none goes that an export
 * has not delivered.
 */
async function heldBack({ configuration, store, clock, log }: RetentionJob): Promise<number> {
  const nowMs = clock.nowMs();
  const kept = (await store.accounts.list()).map(({ receiptsDays }) => receiptsDays);
  const days = [...kept, configuration.settings.receiptsDays].filter((one) => one !== undefined);
  const running = (await store.exports.list()).filter(({ pausedAtMs }) => pausedAtMs === undefined);
  if (days.length === 0 || running.length === 0) return nowMs;
  const fewest = Math.min(...days) * dayMs;
  const states = await store.exports.states();
  const lagMs = exportLagMs(configuration.settings);
  let atMs = nowMs;
  for (const destination of running) {
    const { id, name } = destination;
    const state = states.find((one) => one.destinationId === id && one.stream === "receipts");
    if (state === undefined) continue;
    // What is exported already may go, and so may all that lies before the first receipt.
    const { failure } = state;
    const { cursor } = await placeOf(store.exports, destination, state, { nowMs, lagMs });
    const firstMs = await store.exports.firstMs("receipts", cursor.hourMs, nowMs);
    const untilMs = firstMs === undefined ? nowMs : Math.min(nowMs, firstMs + fewest);
    if (untilMs >= nowMs) continue;
    if (isGivenUp(state, nowMs))
      log.error("old receipts are deleted that an export has failed to deliver for seven days", {
        export: name,
        detail: failure,
      });
    else {
      log.warn("old receipts are kept until an export has delivered them", { export: name });
      atMs = Math.min(atMs, untilMs);
    }
  }
  return atMs;
}
