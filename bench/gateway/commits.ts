/**
 * A gateway under watch (`watched-server.ts`), after the rounds: what commits of receipts do to its
 * event loop, on this disk and, where asked for, on one that is slower to sync.
 */
import type { LoadResult } from "../load/job.ts";
import type { Child } from "../load/processes.ts";
import type { Times } from "../load/samples.ts";
import { aligned, number, spreadOf } from "./report.ts";
import { measure, type Phase, type Target } from "./rounds.ts";
import type { CommitFigures } from "./watched-server.ts";

export type Watched = {
  readonly syncDelayMs: number;
  /** Medians over the rounds; over all connections, and over one. */
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly singleP50Us: number;
  /** Of all rounds over all connections together. */
  readonly commits: CommitFigures;
};

const answerTimeoutMs = 10_000;

export async function watchCommits(options: {
  readonly syncDelayMs: number;
  readonly generator: Child;
  readonly target: Target & { readonly proxy: Child };
  /** Chats over all connections, and over one. */
  readonly many: Phase;
  readonly single: Phase;
  readonly rounds: number;
  readonly step: (label: string) => void;
}): Promise<Watched> {
  const { syncDelayMs, generator, target, many, single, rounds, step } = options;
  const run = async (phase: Phase): Promise<LoadResult> => {
    step(`watched: ${phase.label}`);
    return (await measure({ generator, target, phase })).result;
  };
  await run(many);
  await target.proxy.ask("begin", answerTimeoutMs);
  const results: LoadResult[] = [];
  for (let round = 0; round < rounds; round++) results.push(await run(many));
  // The last sums would be written after up to ten seconds of rest, in which no loop is late.
  await target.catchUp?.();
  const commits = (await target.proxy.ask("end", answerTimeoutMs)) as CommitFigures;
  const alone: LoadResult[] = [];
  for (let round = 0; round < rounds; round++) alone.push(await run(single));
  const median = (values: readonly number[]) => spreadOf(values)?.median ?? Number.NaN;
  return {
    syncDelayMs,
    requestsPerSecond: median(results.map((one) => (one.replies * 1000) / one.durationMs)),
    p50Us: median(results.map((one) => one.p50Us)),
    p99Us: median(results.map((one) => one.p99Us)),
    singleP50Us: median(alone.map((one) => one.p50Us)),
    commits,
  };
}

export function commitTable(all: readonly Watched[]): string {
  const row = (label: string, text: (watched: Watched) => string) => [label, ...all.map(text)];
  return aligned([
    row("commits, in an instrumented gateway", ({ syncDelayMs }) =>
      syncDelayMs === 0 ? "this disk" : `syncs ${syncDelayMs} ms slower`,
    ),
    row("blocked the event loop, ms: p50 / p99 / max", ({ commits }) => times(commits.heldMs)),
    row("  longer than 1 ms", ({ commits: { heldLong, heldMs } }) => share(heldLong, heldMs)),
    row("  undisturbed commits, ms: p50 / p99 / max", ({ commits }) =>
      times(commits.undisturbedMs),
    ),
    row("    longer than 1 ms", ({ commits: { undisturbedLong, undisturbedMs } }) =>
      share(undisturbedLong, undisturbedMs),
    ),
    row("hourly rollups blocked it, undisturbed, ms: p50 / p99 / max", ({ commits }) =>
      times(commits.sumsMs),
    ),
    row("receipts per commit", ({ commits }) => number(commits.receipts / commits.heldMs.count, 1)),
    row("commits/s", ({ commits }) => number(commits.heldMs.count / commits.seconds, 0)),
    row("syncs/s", ({ commits }) => number(commits.syncMs.count / commits.seconds, 0)),
    row("sync time, ms: p50 / p99 / max", ({ commits }) => times(commits.syncMs)),
    row("event-loop lag, ms: p50 / p99 / max", ({ commits }) => times(commits.loopLateMs)),
    row("requests/s", ({ requestsPerSecond }) => number(requestsPerSecond, 0)),
    row("  latency, µs: p50 / p99", (one) => `${number(one.p50Us, 0)} / ${number(one.p99Us, 0)}`),
    row("1 connection: latency p50, µs", ({ singleP50Us }) => number(singleP50Us, 0)),
  ]);
}

function times({ count, p50, p99, max }: Times): string {
  if (count === 0) return "–";
  return [p50, p99, max].map((value) => number(value, 2)).join(" / ");
}

function share(count: number, { count: all }: Times): string {
  return `${number(count, 0)} of ${number(all, 0)}`;
}
