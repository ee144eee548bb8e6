/** When the guard fails: only on a gross regression, so that a busy machine is never the reason. */
import { type Figures, type Spread, spreadOf } from "../gateway/report.ts";

/** The most that the gateway may use of what the bare proxy uses, as a median over the pairs. */
export const limits = { cpuUsPerRequest: 5, cpuUsPerChunk: 2.5 } as const;
export type GuardMetric = keyof typeof limits;

export type Pair = { readonly ours: Figures; readonly bare: Figures };

export type Verdict = {
  readonly metric: GuardMetric;
  readonly ours: Spread | undefined;
  readonly bare: Spread | undefined;
  readonly ratio: Spread | undefined;
  readonly limit: number;
  readonly isWithin: boolean;
};

export function verdictsOf(pairs: readonly Pair[]): readonly Verdict[] {
  return (Object.keys(limits) as GuardMetric[]).map((metric) => {
    const read = (side: keyof Pair) => pairs.map((pair) => pair[side][metric] ?? Number.NaN);
    const [ours, bare] = [read("ours"), read("bare")];
    const ratio = spreadOf(ours.map((value, at) => value / (bare[at] ?? Number.NaN)));
    const limit = limits[metric];
    return {
      metric,
      ours: spreadOf(ours),
      bare: spreadOf(bare),
      ratio,
      limit,
      // A figure that is missing is not within anything.
      isWithin: ratio !== undefined && ratio.median <= limit,
    };
  });
}
