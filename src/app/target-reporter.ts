import type { Log } from "../base/log.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { Ticker } from "./ticker.ts";

export interface TargetReporterOptions {
  readonly health: () => readonly TargetHealth[];
  /** For the other processes; replaces what was written before. */
  readonly write: (targets: readonly TargetHealth[]) => Promise<void>;
  readonly log: Log;
  readonly everyMs?: number;
}

/** Numbers alone change with every call: they are written only now and then. */
const countsEveryMs = 5_000;

/**
 * Lets all processes that share the database know how this one's targets are doing: at once when a
 * target is taken out of service, put back, or has served.
 */
export function reportTargets({ health, write, log, ...rest }: TargetReporterOptions): Ticker {
  let written = "[]";
  let states = "[]";
  let countsMs = 0;
  const work = async () => {
    const targets = health();
    const now = JSON.stringify(targets);
    if (now === written) return;
    const nowStates = JSON.stringify(
      targets.map(({ requests: _requests, failures: _failures, ...state }) => state),
    );
    if (nowStates === states && performance.now() - countsMs < countsEveryMs) return;
    await write(targets);
    written = now;
    states = nowStates;
    countsMs = performance.now();
  };
  return new Ticker({ work, what: "report the state of targets", log, ...rest });
}
