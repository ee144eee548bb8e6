import type { LifecycleState } from "./lifecycle.ts";

/** The states of what serves calls, worst first. Everything that shows a state uses these words. */
export const targetStates = ["failing", "untested", "paused", "serving"] as const;
export type TargetState = (typeof targetStates)[number];

export interface TargetFacts {
  /** The operator paused the provider or its key. */
  readonly isPaused: boolean;
  /** Its key is not there, or the circuit breaker skips it. */
  readonly isOut: boolean;
  /** The outcome of the last test or call since it was added or changed; undefined: none yet. */
  readonly lastOk: boolean | undefined;
}

/** Only a target that is known to work is `serving`. */
export function targetState({ isPaused, isOut, lastOk }: TargetFacts): TargetState {
  if (isPaused) return "paused";
  if (isOut || lastOk === false) return "failing";
  return lastOk === undefined ? "untested" : "serving";
}

/** What becomes of calls to a model, the worst first. */
export const modelStates = [
  "failing",
  "no_route",
  "needs_price",
  "paused",
  "untested",
  "serving",
] as const;
export type ModelState = (typeof modelStates)[number];

/** Null for a retired model, which has no calls. */
export function modelState(options: {
  readonly lifecycle: LifecycleState;
  /** Whether every class that it is billed by has a price. */
  readonly isPriced: boolean;
  /** Of its routes. */
  readonly targets: readonly TargetState[];
}): ModelState | null {
  const { lifecycle, isPriced, targets } = options;
  if (lifecycle === "retired") return null;
  const best = bestState(targets);
  if (best === undefined) return "no_route";
  return isPriced ? best : "needs_price";
}

/** Of several that stand in for one another. A paused one has no say while another is in use. */
export function bestState(states: readonly TargetState[]): TargetState | undefined {
  const fromBest = ["serving", "untested", "failing", "paused"] as const;
  return fromBest.find((state) => states.includes(state));
}

/** For lists: what needs attention stands first, retired models last. */
export function stateRank(state: ModelState | null): number {
  return state === null ? modelStates.length : modelStates.indexOf(state);
}

/** Of several together. */
export function worstState(states: readonly TargetState[]): TargetState | undefined {
  return targetStates.find((state) => states.includes(state));
}
