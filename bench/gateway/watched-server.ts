/**
 * A gateway under watch: how long each commit of receipts held the event loop, how many receipts it
 * had, how often the disk was synced, how late the loop was. The kernel is asked twice per commit
 * and a timer goes off every millisecond: too much for a process whose CPU is compared, so the
 * watched gateway is one of its own, measured after the rounds.
 */
import { mock } from "bun:test";
import * as fs from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RollupStore } from "../../src/ledger/rollups.ts";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import { serveJobs } from "../load/processes.ts";
import { Samples, type Times } from "../load/samples.ts";
import { serve } from "./serve.ts";

export type CommitFigures = {
  readonly seconds: number;
  readonly receipts: number;
  /** By the clock on the wall: on a busy machine also what others took of it. */
  readonly heldMs: Times;
  readonly heldLong: number;
  /** Of the commits in which the kernel took the processor from no thread of the gateway. */
  readonly undisturbedMs: Times;
  readonly undisturbedLong: number;
  /** A piece of the sums by hour, undisturbed ones. */
  readonly sumsMs: Times;
  readonly syncMs: Times;
  readonly loopLateMs: Times;
};

/** What a commit should stay below. */
const longMs = 1;

const heldMs = new Samples();
const undisturbedMs = new Samples();
const late = monitorEventLoopDelay({ resolution: 1 });
let startedMs = 0;
let receipts = 0;
let hasCommitted = false;

/** Of the sums by hour: pieces in which the kernel took the processor from no thread of ours. */
const sumTimesMs = new Samples();
/** From the call to the answer, the added delay included. */
const syncTimesMs = new Samples();
/** A disk that is slower to sync. */
const syncDelayMs = Number(process.env["BENCH_SYNC_DELAY_MS"] ?? "0");

const realSync = fs.fdatasync;
await mock.module("node:fs", () => ({
  ...fs,
  fdatasync(fd: number, done: fs.NoParamCallback) {
    const startedMs = performance.now();
    const timed: fs.NoParamCallback = (error) => {
      syncTimesMs.add(performance.now() - startedMs);
      done(error);
    };
    if (syncDelayMs > 0) setTimeout(() => realSync(fd, timed), syncDelayMs);
    else realSync(fd, timed);
  },
}));
// Only now: these have bound `fdatasync` once they are loaded.
const { openStore } = await import("../../src/app/store.ts");
const { WalSync } = await import("../../src/store/sqlite/ledger/wal-sync.ts");
const { LedgerWriter } = await import("../../src/store/sqlite/ledger/writer.ts");

/** Asked for by every commit that has really written; one that has to wait comes again later. */
const sync = WalSync.prototype.sync;
WalSync.prototype.sync = function (this: InstanceType<typeof WalSync>) {
  hasCommitted = true;
  return sync.call(this);
};

const commit = LedgerWriter.prototype.commit;
LedgerWriter.prototype.commit = function (
  this: InstanceType<typeof LedgerWriter>,
  writes: readonly LedgerWrite[],
) {
  hasCommitted = false;
  const lostBefore = timesPushedOff();
  const before = performance.now();
  const committed = commit.call(this, writes);
  const tookMs = performance.now() - before;
  if (!hasCommitted) return committed;
  heldMs.add(tookMs);
  if (timesPushedOff() === lostBefore) undisturbedMs.add(tookMs);
  receipts += writes.length;
  return committed;
};

/**
 * Stands between the sums by hour and their store: they are the other thing that is written while
 * calls run, and hold the event loop as a commit of receipts does.
 */
function watchedSums(store: RollupStore): RollupStore {
  return {
    ...store,
    add(rollups, openFromMs) {
      const lostBefore = timesPushedOff();
      const startedMs = performance.now();
      let isNoted = false;
      // When it is done or, where it lets others in between, when those have their turn.
      const note = () => {
        if (isNoted) return;
        isNoted = true;
        const tookMs = performance.now() - startedMs;
        if (rollups.length > 0 && timesPushedOff() === lostBefore) sumTimesMs.add(tookMs);
      };
      setImmediate(note);
      return store.add(rollups, openFromMs).finally(note);
    },
  };
}

/** How often the kernel took the processor from a thread of this process that wanted to go on. */
function timesPushedOff(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}

await serve({
  open: async (configuration) => {
    const opened = await openStore(configuration);
    const { ledger } = opened.store;
    const rollups = watchedSums(ledger.rollups);
    return { ...opened, store: { ...opened.store, ledger: { ...ledger, rollups } } };
  },
});
late.enable();
serveJobs(async (question) => (question === "begin" ? begin() : end()));

function begin(): void {
  for (const samples of [heldMs, undisturbedMs, sumTimesMs, syncTimesMs]) samples.clear();
  late.reset();
  receipts = 0;
  startedMs = performance.now();
}

function end(): CommitFigures {
  return {
    seconds: (performance.now() - startedMs) / 1000,
    receipts,
    heldMs: heldMs.sumUp(),
    heldLong: heldMs.countOver(longMs),
    undisturbedMs: undisturbedMs.sumUp(),
    undisturbedLong: undisturbedMs.countOver(longMs),
    sumsMs: sumTimesMs.sumUp(),
    syncMs: syncTimesMs.sumUp(),
    loopLateMs: {
      count: late.count,
      p50: late.percentile(50) / 1e6,
      p99: late.percentile(99) / 1e6,
      max: late.max / 1e6,
    },
  };
}
