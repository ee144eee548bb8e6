import { packedBytes } from "../../engine/weights/layout.ts";
import { type SetName, type SetProgress, weightSets } from "../../engine/weights/sets.ts";

/** A set of weights as the console shows it. */
export interface WeightsView {
  readonly set: SetName;
  readonly phase: SetProgress["phase"];
  readonly done_bytes: number;
  readonly total_bytes: number;
  readonly problem: string | null;
  readonly about: string;
  readonly license: string;
  readonly needed: boolean;
}

export function toWeightsView(options: {
  readonly set: SetName;
  readonly isReady: boolean;
  /** Models of the catalogue are served by it. */
  readonly isNeeded: boolean;
  /** The operator wants it, whoever needs it. */
  readonly isAsked: boolean;
  readonly progress: SetProgress | undefined;
}): WeightsView {
  const { set, isReady, isNeeded, isAsked } = options;
  const { from } = weightSets[set];
  const total = packedBytes(weightSets[set]);
  const progress = isReady ? undefined : options.progress;
  const unknown = isNeeded || isAsked ? "waiting" : "absent";
  return {
    set,
    phase: isReady ? "ready" : (progress?.phase ?? unknown),
    done_bytes: isReady ? total : (progress?.doneBytes ?? 0),
    total_bytes: total,
    problem: progress?.problem ?? null,
    about: from.model,
    license: from.license,
    needed: isNeeded,
  };
}
