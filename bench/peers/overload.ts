/** Twice the rate that a contender can take, for some seconds, and how it is afterwards. */
import { measureJob } from "../load/measure.ts";
import type { Child } from "../load/processes.ts";
import type { Contender } from "./contender.ts";
import { jobOf, type Workload } from "./workloads.ts";

export type Overload = {
  readonly saturation: number;
  readonly offered: number;
  /** Right replies per second. */
  readonly goodput: number;
  /** Of what was sent: replies with 429 or 503, and failed calls. */
  readonly refusedShare: number;
  readonly failedShare: number;
  /** Of what was due: never sent, because no connection was free and the queue was full. */
  readonly droppedShare: number;
  /** Of right replies, from when they were due. */
  readonly p50Us: number;
  readonly p99Us: number;
  readonly peakRssMb: number;
  readonly generatorCores: number;
  /** Seconds until the median at the gentle rate was normal again; undefined: it was not. */
  readonly recoveredAfterS: number | undefined;
  readonly firstFailure: string | undefined;
};

export type OverloadOptions = {
  readonly generator: Child;
  readonly upstream: Child;
  readonly contender: Contender;
  readonly workload: Workload;
  /** Requests per second in the closed loop. */
  readonly saturation: number;
  readonly gentleRate: number;
  /** At the gentle rate, in the rounds. */
  readonly normalP50Us: number;
  readonly durationS: number;
  readonly addReplies: (count: number) => void;
};

/** The generator can send about 100,000 per second; above this, it would be what is measured. */
const maxOffered = 60_000;
const connections = 512;
const maxQueued = 512;
const recoverySteps = 5;
const normalFactor = 2;

export async function overload(options: OverloadOptions): Promise<Overload> {
  const { generator, upstream, contender, workload, saturation, durationS, addReplies } = options;
  const offered = Math.min(maxOffered, Math.round(saturation * 2));
  const { proxy } = contender;
  const requests = Math.round(offered * durationS);
  const job = {
    ...jobOf({ workload, contender }),
    rate: offered,
    requests,
    durationMs: undefined,
    connections,
    maxQueued,
    isTolerant: true,
    timeoutMs: 15_000 + durationS * 1_000,
  };
  const measured = await measureJob({ generator, upstream, proxy, job });
  const { result } = measured;
  addReplies(result.replies);
  const sent = Math.max(1, result.replies + result.refused + result.failures);
  return {
    saturation,
    offered,
    goodput: (result.replies * 1_000) / result.durationMs,
    refusedShare: result.refused / sent,
    failedShare: result.failures / sent,
    droppedShare: result.dropped / requests,
    p50Us: result.p50Us,
    p99Us: result.p99Us,
    peakRssMb: (measured.proxy?.peakRssBytes ?? Number.NaN) / 1e6,
    generatorCores: measured.generatorCpuMs / result.durationMs,
    recoveredAfterS: await recovery(options),
    firstFailure: result.firstFailure,
  };
}

async function recovery(options: OverloadOptions): Promise<number | undefined> {
  const { generator, contender, workload, gentleRate, normalP50Us, addReplies } = options;
  const { proxy } = contender;
  const job = {
    ...jobOf({ workload, contender }),
    rate: gentleRate,
    requests: Math.max(1, Math.round(gentleRate)),
    durationMs: undefined,
    isTolerant: true,
    timeoutMs: 10_000,
  };
  const startedMs = performance.now();
  for (let step = 0; step < recoverySteps; step++) {
    const beganMs = performance.now();
    const { result } = await measureJob({ generator, proxy, job });
    addReplies(result.replies);
    const isNormal = result.failures === 0 && result.p50Us <= normalP50Us * normalFactor;
    if (isNormal) return (beganMs - startedMs) / 1_000;
  }
  return undefined;
}
