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

/** Reports write at once; this is for everything else. */
const flushEveryMs = 2_000;
const eraseEveryMs = 60_000;

/** The record of refused calls: written and cleaned up in small steps beside the receipts. */
export function openRejections(options: {
  readonly store: RejectionStore;
  readonly clock: Clock;
  readonly log: Log;
}): RunningRejections {
  const { store, clock, log } = options;
  const recorder = new RejectionRecorder(store);
  const warn = (what: string) => (error: unknown) => {
    // Logged once, where the server ends because of it.
    if (!(error instanceof FencedError)) log.warn(what, { detail: String(error) });
  };
  let isFailing = false;
  /** A full disk is one line in the log, and not one every two seconds. */
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
  const timers = [
    setInterval(() => void flush(), flushEveryMs),
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
      await flush();
    },
  };
}
