import type { AuditStore } from "../../base/audit.ts";
import { invalid, Problem } from "../../base/problem.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import type { RunningEngineView, WeightsView } from "./schemas.ts";

export interface RunningEngine {
  view(): Promise<RunningEngineView>;
  weights(): readonly WeightsView[];
  /** Downloads in the background, one pull at a time. Failed sets are retried at once. */
  fetchWeights(sets: readonly string[]): void;
}

export interface EngineOperations {
  /** The process of the embedded models; null if there is none. */
  show(input: Record<never, never>): Promise<RunningEngineView | null>;
  /** Empty where the embedded models are switched off. */
  weights(input: Record<never, never>): Promise<readonly WeightsView[]>;
  /** Starts to download some sets, or all that are missing; `weights` shows the progress. */
  pull(input: { sets?: readonly string[] }): Promise<readonly WeightsView[]>;
}

export const engineAudits = {
  show: null,
  weights: null,
  pull: { action: "engine.pull" },
} satisfies Audits<EngineOperations>;

export function engineOperations({
  engine,
  audit: log,
}: {
  readonly audit: AuditStore;
  readonly engine?: RunningEngine | undefined;
}): Unbound<EngineOperations, typeof engineAudits> {
  return {
    show: async () => (await engine?.view()) ?? null,
    weights: async () => engine?.weights() ?? [],
    async pull({ sets }, { audit }) {
      if (engine === undefined)
        throw new Problem({
          code: "conflict",
          message:
            "The embedded models are switched off. Set SVC_ENGINE=on and restart the gateway.",
        });
      const known = engine.weights();
      const unknown = sets?.find((name) => known.every(({ set }) => set !== name));
      if (unknown !== undefined)
        throw invalid({
          sets: `Unknown set "${unknown}". Available sets: ${known.map(({ set }) => set).join(", ")}.`,
        });
      const missing = known.filter(
        ({ set, phase }) => phase !== "ready" && (sets === undefined || sets.includes(set)),
      );
      if (missing.length > 0) {
        const names = missing.map(({ set }) => set);
        await log.add(audit({ subject: names.join(", ") }));
        engine.fetchWeights(names);
      }
      return engine.weights();
    },
  };
}
