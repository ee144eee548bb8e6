import type { Origin } from "../catalog/origin.ts";
import { type Difference, topName } from "./differences.ts";
import { type Plan, type PlanOptions, planApply } from "./plan.ts";

/**
 * For a store that is older than origins and a file that has not changed since it was applied: its
 * entries are marked and nothing else changes. What commands have changed since stays, unmarked.
 */
export function planAdoption(options: PlanOptions & { readonly file: string }): Plan {
  const { current, nowMs } = options;
  const { differences, warnings, write } = planApply({ ...options, adopts: true });
  const marked = <T extends { readonly origin?: Origin }>(
    entry: T,
    name: string,
    kind: Difference["kind"],
  ) => {
    const difference = differences.find((one) => one.kind === kind && one.name === name);
    const changed = new Set(difference?.fields.map(({ field }) => topName(field)));
    const { origin } = entry;
    return origin && { ...origin, fields: origin.fields.filter((field) => !changed.has(field)) };
  };
  const withOrigin = <T extends object>(entry: T, origin: Origin | undefined) =>
    origin === undefined ? [] : [{ ...entry, origin }];
  return {
    differences: [],
    warnings,
    write: {
      atMs: nowMs,
      saveProviders: current.providers.flatMap((entry) => {
        const planned = write.saveProviders?.find(({ name }) => name === entry.name);
        return planned ? withOrigin(entry, marked(planned, entry.name, "provider")) : [];
      }),
      saveModels: current.models.flatMap((model) => {
        const planned = write.saveModels?.find(({ id }) => id === model.id);
        return planned ? withOrigin(model, marked(planned, model.id, "model")) : [];
      }),
    },
  };
}
