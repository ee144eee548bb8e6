import { type Clock, nextTurn } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { FencedError } from "../ledger/store.ts";
import { RejectionRecorder } from "../rejections/recorder.ts";
import type { RejectionStore } from "../rejections/rejection.ts";

export interface RunningRejections {
  readonly recorder: RejectionRecorder;
  /** After the last call: everything is written. */
  close(): Promise<void>;
}

const eraseEveryMs = 60_000;

/** The record of refused calls: written and cleaned up in small steps beside the receipts. */
export function openRejections(options: {
  readonly store: Pick<RejectionStore, "add" | "erase">;
  readonly clock: Clock;
  readonly log: Log;
  readonly flushEveryMs?: number;
}): RunningRejections {
  const { store, clock, log, flushEveryMs = 2_000 } = options;
  const recorder = new RejectionRecorder(store);
  const warn = (what: string) => (error: unknown) => {
    // Logged once, where the server ends because of it.
    if (!(error instanceof FencedError)) log.warn(what, { detail: String(error) });
  };
  let isFailing = false;
  /** A full disk is one line in the log, and not one per attempt. */
  const flush = async () => {
    try {
      await recorder.flush();
      isFailing = false;
    } catch (error) {
      if (!isFailing) warn("cannot record rejected requests")(error);
      isFailing = true;
    }
  };
  const erase = async () => {
    while (await store.erase(clock.nowMs())) await nextTurn();
  };
  let flushing: Promise<void> | undefined;
  const timers = [
    // Reports write at once; this is for everything else. While one waits for the disk, the next
    // would find nothing to write, and take that for success.
    setInterval(() => {
      flushing ??= flush().finally(() => {
        flushing = undefined;
      });
    }, flushEveryMs),
    setInterval(
      () => void erase().catch(warn("cannot delete old records of rejected requests")),
      eraseEveryMs,
    ),
  ];
  for (const timer of timers) timer.unref();
  return {
    recorder,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await flushing;
      await flush();
    },
  };
}
