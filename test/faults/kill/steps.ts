/** The moments of a request at which the process is killed. */

/** Reached inside the process: `kill-at.ts`, loaded before it, kills it there. */
export const innerSteps = [
  "before-hold",
  "after-hold",
  "after-claim",
  "before-transaction",
  "in-transaction",
  "before-sync",
  "during-sync",
  "after-sync",
  "before-last-byte",
] as const;

/** Seen from outside: the upstream or the caller sees the moment, and the kill comes by pid. */
export const outerSteps = [
  "before-first-byte",
  "mid-stream",
  "after-upstream-end",
  "random",
] as const;

export type InnerStep = (typeof innerSteps)[number];
export type OuterStep = (typeof outerSteps)[number];
export type KillStep = InnerStep | OuterStep;

export const killSteps: readonly KillStep[] = [...innerSteps, ...outerSteps];

export function isInner(step: KillStep): step is InnerStep {
  return innerSteps.some((one) => one === step);
}
