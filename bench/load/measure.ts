/** One job of the load generator, with what it cost everyone who took part. */
import type { LoadJob, LoadResult } from "./job.ts";
import type { Child } from "./processes.ts";

export type Measurement = {
  readonly result: LoadResult;
  /** Undefined without a proxy. */
  readonly proxy: ProxyCost | undefined;
  readonly generatorCpuMs: number;
  /** Undefined where the upstream is not watched. */
  readonly upstreamCpuMs: number | undefined;
};

export type ProxyCost = {
  /** Whole process tree, user and kernel. */
  readonly cpuMs: number;
  readonly kernelMs: number;
  readonly peakRssBytes: number;
};

/** Work that a proxy deferred until after the last reply is still part of its cost. */
export const settleMs = 150;

export async function measureJob(options: {
  readonly generator: Child;
  readonly upstream?: Child | undefined;
  readonly proxy: Child | undefined;
  readonly job: LoadJob;
}): Promise<Measurement> {
  const { generator, upstream, proxy, job } = options;
  proxy?.resetPeak();
  const before = {
    generator: generator.weigh(),
    upstream: upstream?.weigh(),
    proxy: proxy?.weigh(),
  };
  const result = (await generator.ask(job, job.timeoutMs * 2)) as LoadResult;
  await Bun.sleep(settleMs);
  const proxyAfter = proxy?.weigh();
  return {
    result,
    proxy:
      before.proxy === undefined || proxyAfter === undefined
        ? undefined
        : {
            cpuMs: proxyAfter.cpuMs - before.proxy.cpuMs,
            kernelMs: proxyAfter.kernelMs - before.proxy.kernelMs,
            peakRssBytes: proxyAfter.peakRssBytes,
          },
    generatorCpuMs: generator.weigh().cpuMs - before.generator.cpuMs,
    upstreamCpuMs:
      upstream === undefined || before.upstream === undefined
        ? undefined
        : upstream.weigh().cpuMs - before.upstream.cpuMs,
  };
}
