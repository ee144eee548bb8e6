/** What targets on PostgreSQL send to it and get from it, counted by a proxy between them. */
import type { Child, Children } from "../load/processes.ts";
import type { Progress } from "../load/progress.ts";
import type { WireSums } from "./counting-proxy.ts";
import type { Options } from "./options.ts";
import { measure, phasesOf } from "./rounds.ts";
import { type Home, startTarget, type TargetName, titles } from "./targets.ts";

export type WirePhase = "plain" | "limited" | "single" | "idle";

/** Of one phase, with how often it was done: calls of a load, or seconds without any. */
export type WireCount = WireSums & {
  readonly target: TargetName;
  readonly phase: WirePhase;
  readonly times: number;
};

const askTimeoutMs = 5_000;
/** Long enough for several ticks of every process. */
const idleMs = 10_000;
const quickIdleMs = 2_000;

export async function countWire(options: {
  readonly options: Options;
  readonly children: Children;
  readonly generator: Child;
  readonly homes: readonly Home[];
  readonly progress: Progress;
}): Promise<readonly WireCount[]> {
  const { children, generator, progress } = options;
  const [plain, limited, single] = phasesOf(options.options);
  const counts: WireCount[] = [];
  for (const home of options.homes) {
    if (home.database === undefined) continue;
    const target = home.name;
    progress.tell(`${titles[target]}: counting what goes to the database`);
    const proxy = children.start({
      name: `counting proxy of ${target}`,
      args: ["bench/database/counting-proxy.ts", String(home.database.port)],
      talks: true,
    });
    const databasePort = await proxy.ready();
    const started = await startTarget({ home, children, databasePort });
    const sums = async () => (await proxy.ask({}, askTimeoutMs)) as WireSums;
    for (const phase of [plain, limited, single]) {
      if (phase === undefined) continue;
      // The first time borrows money and permits for every account and key.
      await measure({ generator, target: started, phase });
      const before = await sums();
      await measure({ generator, target: started, phase });
      const count = difference(await sums(), before);
      counts.push({ ...count, target, phase: phase.name, times: phase.requests });
    }
    const waitMs = options.options.isQuick ? quickIdleMs : idleMs;
    const before = await sums();
    await Bun.sleep(waitMs);
    const count = difference(await sums(), before);
    counts.push({ ...count, target, phase: "idle", times: waitMs / 1000 });
    await started.proxy.stop();
    await proxy.stop();
  }
  return counts;
}

const difference = (after: WireSums, before: WireSums): WireSums => ({
  calls: after.calls - before.calls,
  messagesOut: after.messagesOut - before.messagesOut,
  messagesIn: after.messagesIn - before.messagesIn,
  bytesOut: after.bytesOut - before.bytesOut,
  bytesIn: after.bytesIn - before.bytesIn,
});
