import type { UpstreamReason } from "../base/errors.ts";

/** How a target is doing, for the operator. */
export interface TargetHealth {
  readonly provider: string;
  readonly model: string;
  /** Which key of the provider, where it has several. */
  readonly key: string | null;
  /** `resting`: it asked to be left alone for a while. */
  readonly state: "closed" | "open" | "half-open" | "resting";
  /** Why it is not asked, or was not. */
  readonly reason: UpstreamReason | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** Of the last seconds. */
  readonly requests: number;
  readonly failures: number;
  /** It served a call since the start, since its provider or key was changed, and since it failed. */
  readonly hasServed: boolean;
  /** Where several gateways share the database: those for which it is not in service. */
  readonly nodes?: readonly string[];
}

/** A target: one model of one provider, by one of its keys where it has several. */
export interface ServedTarget {
  readonly provider: string;
  readonly key: string | undefined;
  readonly model: string;
}

const fromBest: readonly TargetHealth["state"][] = ["closed", "resting", "half-open", "open"];

/** Of the keys of one route: as long as one of them serves, the route does. */
export function bestHealth(all: readonly TargetHealth[]): TargetHealth | undefined {
  return all.toSorted((a, b) => fromBest.indexOf(a.state) - fromBest.indexOf(b.state))[0];
}

export interface NodeHealth {
  readonly node: string;
  readonly targets: readonly TargetHealth[];
}

/** Of all gateways: a target is as well as it is for the one that has the most trouble with it. */
export function mergeHealth(all: readonly NodeHealth[]): readonly TargetHealth[] {
  const seen = all.flatMap(({ node, targets }) => targets.map((target) => ({ node, target })));
  const byTarget = Map.groupBy(seen, ({ target: { provider, key, model } }) =>
    JSON.stringify([provider, key, model]),
  );
  return [...byTarget.values()].flatMap((views) => {
    const [worst] = views
      .map(({ target }) => target)
      .toSorted(
        (one, other) =>
          fromBest.indexOf(other.state) - fromBest.indexOf(one.state) ||
          (one.sinceMs ?? 0) - (other.sinceMs ?? 0),
      );
    if (worst === undefined) return [];
    const nodes = views.filter(({ target }) => target.state !== "closed").map(({ node }) => node);
    return [
      {
        ...worst,
        requests: views.reduce((sum, { target }) => sum + target.requests, 0),
        failures: views.reduce((sum, { target }) => sum + target.failures, 0),
        hasServed: views.some(({ target }) => target.hasServed),
        ...(nodes.length === 0 ? {} : { nodes: nodes.toSorted() }),
      },
    ];
  });
}

/** What the change feed says of targets: an operator put them back, or a test of one failed. */
export type TargetNews =
  | { readonly kind: "reset"; readonly provider: string; readonly model?: string | undefined }
  | { readonly kind: "forget-served"; readonly target: ServedTarget };

/** As the subject of a change. */
export const toTargetSubject = (news: TargetNews): string => JSON.stringify(news);

/** Written by `toTargetSubject`; another version may have other news, which are left alone. */
export function fromTargetSubject(subject: string): TargetNews | undefined {
  const news = JSON.parse(subject) as TargetNews;
  return news.kind === "reset" || news.kind === "forget-served" ? news : undefined;
}
