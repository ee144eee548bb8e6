/**
 * A preload for a gateway under watch: how long each commit of receipts held the event loop, how
 * many receipts it had, how often the disk was synced, how late the loop was. The kernel is asked
 * twice a commit and a timer goes off every millisecond: too much for a process whose CPU is
 * compared, so the watched gateway is one of its own, measured after the rounds.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import { LedgerWriter } from "../../src/store/sqlite/ledger/writer.ts";
import { serveJobs } from "../load/processes.ts";
import { Samples, type Times } from "../load/samples.ts";
import { watchEdits } from "./gateway-edits.ts";
import { installEdits } from "./source-edits.ts";
import { sumTimesMs, timesPushedOff } from "./watched-sums.ts";
import { syncTimesMs } from "./watched-sync.ts";

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

installEdits(watchEdits);
// Only now: the edits are for sources that are not loaded yet.
const { WalSync } = await import("../../src/store/sqlite/ledger/wal-sync.ts");

/** Asked for by every commit that has really written; one that has to wait comes again later. */
const sync = WalSync.prototype.sync;
WalSync.prototype.sync = function (this: InstanceType<typeof WalSync>) {
  hasCommitted = true;
  return sync.call(this);
};

const commit = LedgerWriter.prototype.commit;
LedgerWriter.prototype.commit = function (this: LedgerWriter, writes: readonly LedgerWrite[]) {
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
