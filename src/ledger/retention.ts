import { nextTurn } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { dayMs } from "./rollups.ts";

/** Days: from the start of one to the start of another. */
export interface Days {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Receipts that began before it are gone, or about to go: sums of days stand for them. */
export interface ReceiptMark {
  /** Undefined: of all accounts. */
  readonly accountId: string | undefined;
  readonly keptFromMs: number;
}

/**
 * Implemented by the store. Marks move first and receipts go then, so that whoever reads both never
 * misses receipts that no sum stands for. From then on no receipt from before any mark is written,
 * and sums from before it are not recounted: ids that are gone cannot be charged again.
 */
export interface RetentionStore {
  /** Runs it, unless another process is at it; whether it ran. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /**
   * Moves the marks of all and of each account to whole days. Days that are not in the sums of days
   * yet, or may still get receipts, are kept.
   */
  advance(of: { readonly nowMs: number; readonly days: number | undefined }): Promise<void>;
  /** The oldest day with receipts that go for all accounts and were not exported. */
  nextExport(): Promise<Days | undefined>;
  exported(toMs: number): Promise<void>;
  /**
   * Deletes a few receipts from before the marks; false when none is left. Where something must be
   * exported first, only what accounts do not keep goes.
   */
  erase(of: { readonly withAll: boolean }): Promise<boolean>;
}

export interface RetentionOptions {
  readonly store: RetentionStore;
  /** How long receipts of all accounts are kept; undefined: forever. */
  readonly days: number | undefined;
  readonly nowMs: number;
  /** Writes the receipts of one day to a file, before they go; undefined: they just go. */
  readonly exportDay?: ((day: Days) => Promise<void>) | undefined;
  readonly log: Log;
  /** Stops between two steps. */
  readonly signal?: AbortSignal | undefined;
}

/** Deletes receipts that need not be kept any more, in small steps beside the calls. */
export async function applyRetention(options: RetentionOptions): Promise<void> {
  const { store, days, nowMs, signal } = options;
  const isStopped = () => signal?.aborted === true;
  await store.alone(async () => {
    await store.advance({ nowMs, days });
    const withAll = await exportAll(options);
    while (!isStopped() && (await store.erase({ withAll }))) await nextTurn();
  });
}

/** False when a file could not be written: nothing of it may go. */
async function exportAll({ store, exportDay, log, signal }: RetentionOptions): Promise<boolean> {
  if (exportDay === undefined) return true;
  for (let day = await store.nextExport(); day !== undefined; day = await store.nextExport()) {
    if (signal?.aborted === true) return false;
    try {
      await exportDay(day);
    } catch (error) {
      log.error("cannot export old receipts, so none is deleted; it is tried again every hour", {
        day: new Date(day.fromMs).toISOString().slice(0, 10),
        detail: String(error),
      });
      return false;
    }
    await store.exported(day.toMs);
  }
  return true;
}

/** The first moment that is kept, when receipts are kept for so many days; a whole day. */
export const keptFrom = (nowMs: number, days: number) =>
  Math.max(0, Math.floor((nowMs - days * dayMs) / dayMs) * dayMs);
