/**
 * The measuring. In a round each kind of load goes to each target in turn, so that what is compared
 * was measured seconds apart: the machine is never quiet, but it is seldom another one that fast.
 */
import type { LoadJob, LoadResult } from "../load/job.ts";
import { measureJob, settleMs } from "../load/measure.ts";
import type { Child } from "../load/processes.ts";
import type { Options } from "./options.ts";
import type { Figures, Round, TargetName } from "./report.ts";

export type Target = {
  readonly name: TargetName;
  readonly port: number;
  readonly model: string;
  readonly keys: readonly string[];
  /** Absent for the direct way, which has no proxy to weigh. */
  readonly proxy: Child | undefined;
  /** Has it do now what it puts off for longer than a phase waits. */
  readonly catchUp?: () => Promise<void>;
};

export type Phase = Pick<
  LoadJob,
  "kind" | "dialect" | "hasTools" | "headers" | "connections" | "requests" | "chunks"
> & {
  readonly label: string;
  /** Of no use for the direct way. */
  readonly proxiesOnly: boolean;
  readonly figures: (sample: Sample) => Figures;
};

type Sample = {
  readonly result: LoadResult;
  /** Undefined for the direct way. */
  readonly proxyCpuMs: number | undefined;
  readonly generatorCpuMs: number;
};

export type RoundOptions = {
  readonly generator: Child;
  readonly targets: readonly Target[];
  readonly phases: readonly Phase[];
  readonly step: (label: string) => void;
};

const jobTimeoutMs = 60_000;

export async function runRound({ generator, targets, phases, step }: RoundOptions): Promise<Round> {
  const round: Round = {};
  for (const phase of phases) {
    for (const target of targets) {
      if (phase.proxiesOnly && target.proxy === undefined) continue;
      step(`${target.name}: ${phase.label}`);
      const sample = await measure({ generator, target, phase });
      round[target.name] = { ...round[target.name], ...phase.figures(sample) };
    }
  }
  for (const { name, proxy } of targets) {
    if (proxy === undefined) continue;
    round[name] = { ...round[name], rssMb: proxy.weigh().rssBytes / 1e6 };
  }
  return round;
}

/** CPU time of each proxy until now, with nothing put off. */
export async function weighAll(targets: readonly Target[]): Promise<ReadonlyMap<string, number>> {
  const weights = new Map<string, number>();
  for (const { name, proxy, catchUp } of targets) {
    if (proxy === undefined) continue;
    await catchUp?.();
    await Bun.sleep(settleMs);
    weights.set(name, proxy.weigh().cpuMs);
  }
  return weights;
}

export function phasesOf(options: Options): readonly Phase[] {
  const { connections, requests, singles, streams, chunks, firsts } = options;
  return [
    {
      label: `chat over ${connections} connections`,
      proxiesOnly: false,
      kind: "chat",
      connections,
      requests,
      chunks: 0,
      figures: ({ result, proxyCpuMs, generatorCpuMs }) => ({
        ...(proxyCpuMs === undefined
          ? {}
          : {
              cpuUsPerRequest: (proxyCpuMs * 1000) / requests,
              coresBusy: proxyCpuMs / result.durationMs,
            }),
        requestsPerSecond: (requests * 1000) / result.durationMs,
        p50Us: result.p50Us,
        p99Us: result.p99Us,
        generatorUsPerRequest: (generatorCpuMs * 1000) / requests,
        generatorCores: generatorCpuMs / result.durationMs,
      }),
    },
    {
      label: "chat over one connection",
      proxiesOnly: false,
      kind: "chat",
      connections: 1,
      requests: singles,
      chunks: 0,
      figures: ({ result }) => ({ singleP50Us: result.p50Us }),
    },
    {
      label: `${streams} streams`,
      proxiesOnly: true,
      kind: "stream",
      connections: streams,
      requests: streams,
      chunks,
      figures: ({ result, proxyCpuMs }) => ({
        ...(proxyCpuMs === undefined
          ? {}
          : { cpuUsPerChunk: (proxyCpuMs * 1000) / (streams * chunks) }),
        readsPerChunk: result.contentReads / (streams * chunks),
      }),
    },
    {
      label: "first content of a stream",
      proxiesOnly: false,
      kind: "stream",
      connections: 1,
      requests: firsts,
      chunks: 1,
      figures: ({ result }) => ({ firstByteUs: result.p50Us }),
    },
  ];
}

type Measurement = {
  readonly generator: Child;
  readonly target: Target;
  readonly phase: Phase;
};

export async function measure({ generator, target, phase }: Measurement): Promise<Sample> {
  const { kind, dialect, hasTools, headers, connections, requests, chunks } = phase;
  const { port, model, keys, proxy } = target;
  const load = { kind, dialect, hasTools, headers, connections, requests, chunks };
  const job = { ...load, port, model, keys, timeoutMs: jobTimeoutMs };
  const measured = await measureJob({ generator, proxy, job: job satisfies LoadJob });
  const { result, generatorCpuMs } = measured;
  if (result.failures > 0 || result.replies !== requests) {
    const reason = result.firstFailure ?? "replies are missing";
    throw new Error(
      `${target.name}, ${phase.label}: ${result.failures} of ${requests} failed; the first: ${reason}\n${proxy?.lastWords() ?? ""}`,
    );
  }
  return { result, proxyCpuMs: measured.proxy?.cpuMs, generatorCpuMs };
}
