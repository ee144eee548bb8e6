/** What was measured: samples by workload and contender, one per round, or why there are none. */

import { type Spread, spreadOf } from "../gateway/report.ts";
import type { Measurement } from "../load/measure.ts";
import { percentile } from "../load/samples.ts";
import { unitsPerReply, type Workload } from "./workloads.ts";

export type Sample = {
  readonly round: number;
  readonly replies: number;
  /** Per request, or per chunk of a stream. NaN for the direct way. */
  readonly cpuUs: number;
  /** Of the CPU time, 0 to 1. */
  readonly kernelShare: number;
  readonly peakRssMb: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly generatorCores: number;
  readonly upstreamCores: number;
  /** Of a stream; below 1 where events came in bunches. */
  readonly readsPerChunk: number;
  /** Of an open loop: its rate and every latency, sorted. */
  readonly rate?: number;
  readonly timesUs?: readonly number[];
};

export type SampleMetric = Exclude<keyof Sample, "rate" | "timesUs" | "round">;

export class Results {
  readonly #samples = new Map<string, Sample[]>();
  readonly #failures = new Map<string, string>();

  add(workload: string, contender: string, sample: Sample): void {
    const key = `${workload} ${contender}`;
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
  }

  fail(workload: string, contender: string, reason: string): void {
    this.#failures.set(`${workload} ${contender}`, reason);
  }

  failure(workload: string, contender: string): string | undefined {
    return this.#failures.get(`${workload} ${contender}`);
  }

  samples(workload: string, contender: string): readonly Sample[] {
    return this.#samples.get(`${workload} ${contender}`) ?? [];
  }

  spread(workload: string, contender: string, metric: SampleMetric): Spread | undefined {
    const values = this.samples(workload, contender).map((sample) => sample[metric]);
    return spreadOf(values.filter(Number.isFinite));
  }

  /** Taken within each round, where both met the same machine. */
  ratio(workload: string, [over, under]: readonly [string, string]): Spread | undefined {
    const others = new Map(this.samples(workload, under).map((one) => [one.round, one.cpuUs]));
    return spreadOf(
      this.samples(workload, over).flatMap(({ round, cpuUs }) => {
        const other = others.get(round);
        return other === undefined || !(other > 0) ? [] : [cpuUs / other];
      }),
    );
  }

  /** What a proxy adds to the direct way at the same rate, taken within each round. */
  added(workload: string, contender: string, metric: SampleMetric): Spread | undefined {
    const floors = this.samples(workload, "direct");
    return spreadOf(
      this.samples(workload, contender).flatMap((sample) => {
        const { round, rate } = sample;
        const floor = floors.find((one) => one.round === round && one.rate === rate);
        return floor === undefined ? [] : [sample[metric] - floor[metric]];
      }),
    );
  }
}

export function toSample(options: {
  readonly workload: Workload;
  readonly measurement: Measurement;
  readonly round: number;
  readonly rate: number | undefined;
}): Sample {
  const { workload, measurement, round, rate } = options;
  const { result, proxy, generatorCpuMs, upstreamCpuMs } = measurement;
  const { replies, durationMs, timesUs } = result;
  const units = replies * unitsPerReply(workload);
  return {
    round,
    replies,
    cpuUs: proxy === undefined ? Number.NaN : (proxy.cpuMs * 1000) / units,
    kernelShare: proxy === undefined ? Number.NaN : proxy.kernelMs / proxy.cpuMs,
    peakRssMb: proxy === undefined ? Number.NaN : proxy.peakRssBytes / 1e6,
    requestsPerSecond: (replies * 1000) / durationMs,
    p50Us: result.p50Us,
    p99Us: result.p99Us,
    generatorCores: generatorCpuMs / durationMs,
    upstreamCores: (upstreamCpuMs ?? Number.NaN) / durationMs,
    readsPerChunk: workload.kind === "stream" ? result.contentReads / units : Number.NaN,
    ...(rate === undefined ? {} : { rate }),
    ...(timesUs === undefined ? {} : { timesUs }),
  };
}

/** Above this, the generator or the upstream may be what is slow. */
export const maxInstrumentCores = 0.7;
/** Below this, the slowest thousandth is a handful of requests. */
export const minTailSamples = 10_000;

export type Tail = {
  readonly rate: number;
  readonly count: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Undefined where the instruments were too busy or the samples too few. */
  readonly p999Us: number | undefined;
  readonly generatorCores: number;
  readonly upstreamCores: number;
};

/** The latencies of all rounds at one rate, put together. */
export function tailOf(samples: readonly Sample[], rate: number): Tail | undefined {
  const taken = samples.filter((sample) => sample.rate === rate);
  if (taken.length === 0) return undefined;
  const sorted = Float64Array.from(taken.flatMap(({ timesUs = [] }) => timesUs)).sort();
  const median = (metric: SampleMetric) =>
    spreadOf(taken.map((sample) => sample[metric]))?.median ?? Number.NaN;
  const generatorCores = median("generatorCores");
  const upstreamCores = median("upstreamCores");
  const isCalm = generatorCores <= maxInstrumentCores && upstreamCores <= maxInstrumentCores;
  return {
    rate,
    count: sorted.length,
    p50Us: percentile(sorted, 0.5),
    p99Us: percentile(sorted, 0.99),
    p999Us: isCalm && sorted.length >= minTailSamples ? percentile(sorted, 0.999) : undefined,
    generatorCores,
    upstreamCores,
  };
}
