import {
  bestState,
  type TargetState,
  targetStates,
  worstState,
} from "../../../../../src/catalog/state.ts";
import type { Provider, Target } from "./words.ts";

/** One model at a provider, by all keys that call it. */
export interface ServedModel {
  readonly model: string;
  /** As long as it works with one key, it is served. */
  readonly state: TargetState;
  readonly targets: readonly Target[];
}

/** What needs attention stands first: models that fail, then those that fail with some keys. */
export function servedModels({ targets }: Pick<Provider, "targets">): readonly ServedModel[] {
  const models = [...Map.groupBy(targets, ({ model }) => model)].map(([model, own]) => ({
    model,
    targets: own,
    state: bestState(statesOf(own)) ?? "failing",
    worst: worstState(statesOf(own)) ?? "failing",
  }));
  const rank = (state: TargetState) => targetStates.indexOf(state);
  return models.toSorted(
    (one, other) => rank(one.state) - rank(other.state) || rank(one.worst) - rank(other.worst),
  );
}

const statesOf = (targets: readonly Target[]) => targets.map(({ status }) => status);

/** The keys of a model by their state, the worst first. */
export function keysByState({ targets }: ServedModel): readonly {
  readonly state: TargetState;
  readonly keys: readonly string[];
}[] {
  return targetStates
    .map((state) => ({
      state,
      keys: targets.filter(({ status }) => status === state).map(({ key }) => key ?? "default"),
    }))
    .filter(({ keys }) => keys.length > 0);
}

/** What fails of a provider while the rest works; undefined: nothing, or all of it. */
export function partFailing(provider: Provider): string | undefined {
  const models = servedModels(provider);
  const failing = models.filter(({ state }) => state === "failing").length;
  if (provider.status !== "failing" || models.length === 0 || failing === models.length)
    return undefined;
  if (failing > 0) return `${failing} of ${models.length} models failing`;
  const { keys } = provider;
  const rejected = keys.filter(({ status }) => status === "failing").length;
  if (rejected > 0) return `${rejected} of ${keys.length} keys failing`;
  const partial = models.filter(({ targets }) => statesOf(targets).includes("failing")).length;
  return `${partial} of ${models.length} models failing with some keys`;
}
