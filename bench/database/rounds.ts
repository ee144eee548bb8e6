/** The measuring: in a round, each kind of load goes to each target in turn. */
import type { LoadJob } from "../load/job.ts";
import { measureJob } from "../load/measure.ts";
import type { Child } from "../load/processes.ts";
import type { Progress } from "../load/progress.ts";
import { publicModel } from "../load/traffic.ts";
import type { Options } from "./options.ts";
import {
  databaseCpuMs,
  type Keys,
  receiptsOf,
  type Target,
  type TargetName,
  titles,
} from "./targets.ts";

export const phaseNames = ["plain", "limited", "single"] as const;
export type PhaseName = (typeof phaseNames)[number];

export type Figures = {
  readonly cpuUs: number;
  readonly databaseCpuUs: number;
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly generatorCores: number;
};

/** By target, then by phase. */
export type Round = Partial<Record<TargetName, Partial<Record<PhaseName, Figures>>>>;

type Phase = {
  readonly name: PhaseName;
  readonly keys: keyof Keys;
  readonly connections: number;
  readonly requests: number;
};

const jobTimeoutMs = 60_000;

export function phasesOf({ connections, requests, singles }: Options): readonly Phase[] {
  return [
    { name: "plain", keys: "plain", connections, requests },
    { name: "limited", keys: "limited", connections, requests },
    { name: "single", keys: "plain", connections: 1, requests: singles },
  ];
}

export async function runRounds(options: {
  readonly options: Options;
  readonly generator: Child;
  readonly targets: readonly Target[];
  readonly progress: Progress;
}): Promise<readonly Round[]> {
  const { generator, targets, progress } = options;
  const { rounds: count } = options.options;
  const phases = phasesOf(options.options);
  progress.expect((count + 1) * phases.length * targets.length);
  const rounds: Round[] = [];
  for (let index = 0; index <= count; index++) {
    progress.tell(index === 0 ? "warming up" : `round ${index} of ${count}`);
    const round: Round = {};
    for (const phase of phases)
      for (const target of index % 2 === 0 ? targets : targets.toReversed()) {
        const { name } = target.home;
        progress.step(`${titles[name]}: ${phase.name}`);
        const figures = await measure({ generator, target, phase });
        round[name] = { ...round[name], [phase.name]: figures };
      }
    // The first warms up.
    if (index > 0) rounds.push(round);
  }
  await checkReceipts(targets, (count + 1) * phases.reduce((sum, one) => sum + one.requests, 0));
  return rounds;
}

export async function measure(options: {
  readonly generator: Child;
  readonly target: Target;
  readonly phase: Phase;
}): Promise<Figures> {
  const { generator, target, phase } = options;
  const { home, port, proxy } = target;
  const { connections, requests } = phase;
  const job: LoadJob = {
    kind: "chat",
    port,
    model: publicModel,
    keys: home.keys[phase.keys],
    connections,
    requests,
    chunks: 0,
    timeoutMs: jobTimeoutMs,
  };
  const databaseBeforeMs = databaseCpuMs(home);
  const { result, proxy: cost, generatorCpuMs } = await measureJob({ generator, proxy, job });
  const databaseMs = databaseCpuMs(home) - databaseBeforeMs;
  if (result.failures > 0 || result.replies !== requests)
    throw new Error(
      `${titles[home.name]}, ${phase.name}: ${result.failures} of ${requests} failed; the first: ${result.firstFailure ?? "replies are missing"}\n${proxy.lastWords()}`,
    );
  return {
    cpuUs: ((cost?.cpuMs ?? 0) * 1000) / requests,
    databaseCpuUs: (databaseMs * 1000) / requests,
    perSecond: (requests * 1000) / result.durationMs,
    p50Us: result.p50Us,
    p99Us: result.p99Us,
    generatorCores: generatorCpuMs / result.durationMs,
  };
}

/** Stops the targets: every call was charged once, or nothing of the figures is true. */
async function checkReceipts(targets: readonly Target[], due: number): Promise<void> {
  for (const { home, proxy } of targets) {
    await proxy.stop();
    const { ok, other } = await receiptsOf(home);
    if (ok !== due || other !== 0)
      throw new Error(
        `${titles[home.name]} has ${ok} receipts of calls that went well and ${other} others; due were ${due}`,
      );
  }
}
