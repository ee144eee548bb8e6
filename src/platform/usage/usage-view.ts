import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import {
  latencyBoundsMs,
  othersName,
  type UsageGrain,
  type UsagePoint,
} from "../../ledger/reports.ts";
import { percentileMs } from "./percentile.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const ranges = ["1h", "24h", "7d", "30d", "90d"] as const;
export type Range = (typeof ranges)[number];

const steps: Readonly<Record<Range, { readonly grain: UsageGrain; readonly count: number }>> = {
  "1h": { grain: "minute", count: 60 },
  "24h": { grain: "hour", count: 24 },
  "7d": { grain: "hour", count: 168 },
  "30d": { grain: "day", count: 30 },
  "90d": { grain: "day", count: 90 },
};
const grainMs: Readonly<Record<UsageGrain, number>> = {
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
};

export interface Span {
  readonly grain: UsageGrain;
  readonly fromMs: number;
  readonly toMs: number;
  /** Where each step begins. */
  readonly startsMs: readonly number[];
}

/** Whole steps, the last of which goes on. */
export function spanOf(range: Range, nowMs: number): Span {
  const { grain, count } = steps[range];
  const stepMs = grainMs[grain];
  const toMs = Math.floor(nowMs / stepMs) * stepMs + stepMs;
  const fromMs = toMs - count * stepMs;
  return {
    grain,
    fromMs,
    toMs,
    startsMs: Array.from({ length: count }, (_, at) => fromMs + at * stepMs),
  };
}

/** Of the same length, just before: the last of the minutes are not kept that long. */
export function spanBefore({ grain, fromMs, toMs }: Span): Omit<Span, "startsMs"> | undefined {
  if (grain === "minute") return undefined;
  return { grain, fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

/** One for each bound, and one for all above. */
const noCounts = (): number[] => [...latencyBoundsMs.map(() => 0), 0];

/** What is added up on the way. */
class Sum {
  requests = 0;
  failures = 0;
  inputTokens = 0;
  outputTokens = 0;
  charged = 0n;
  readonly durations = noCounts();
  readonly firstBytes = noCounts();

  add(point: UsagePoint): void {
    this.requests += point.receipts;
    this.failures += point.failures;
    this.inputTokens += point.inputTokens;
    this.outputTokens += point.outputTokens;
    this.charged += point.charged;
    for (const [at, count] of point.durations.entries())
      this.durations[at] = (this.durations[at] ?? 0) + count;
    for (const [at, count] of point.firstBytes.entries())
      this.firstBytes[at] = (this.firstBytes[at] ?? 0) + count;
  }

  get view() {
    return {
      requests: this.requests,
      failures: this.failures,
      input_tokens: this.inputTokens,
      output_tokens: this.outputTokens,
      charged_usd: toUsd(this.charged),
      latency_p50_ms: percentileMs(this.durations, 0.5),
      latency_p95_ms: percentileMs(this.durations, 0.95),
      first_byte_p50_ms: percentileMs(this.firstBytes, 0.5),
      first_byte_p95_ms: percentileMs(this.firstBytes, 0.95),
    };
  }
}

type SumView = Sum["view"];

/** How many are told apart in a chart; the others are one. */
const mostSeries = 7;
const others = othersName;

export interface UsageView {
  readonly totals: SumView;
  readonly points: readonly (SumView & { readonly start: string })[];
  readonly series: readonly {
    readonly name: string;
    readonly label: string;
    readonly totals: SumView;
    readonly points: readonly SumView[];
  }[];
}

/** Every step has a place in it, whether something happened then or not. */
export function toUsageView(options: {
  readonly span: Span;
  readonly points: readonly UsagePoint[];
  readonly labels: ReadonlyMap<string, string>;
}): UsageView {
  const { span, points, labels } = options;
  const totals = new Sum();
  const byStep = new Map(span.startsMs.map((startMs) => [startMs, new Sum()]));
  const byName = new Map<string, Sum>();
  for (const point of points) {
    totals.add(point);
    byStep.get(point.startMs)?.add(point);
    const known = byName.get(point.name) ?? new Sum();
    known.add(point);
    byName.set(point.name, known);
  }
  const kept = largest(byName);
  const nameOf = (name: string) => (kept.includes(name) ? name : others);
  const names = [
    ...kept,
    ...([...byName.keys()].every((name) => kept.includes(name)) ? [] : [others]),
  ];
  return {
    totals: totals.view,
    points: [...byStep].map(([startMs, sum]) => ({ start: toDateText(startMs), ...sum.view })),
    series: names.map((name) =>
      toSeries({
        name,
        label: labels.get(name) ?? name,
        span,
        points: points.filter((point) => nameOf(point.name) === name),
      }),
    ),
  };
}

function largest(byName: ReadonlyMap<string, Sum>): readonly string[] {
  return [...byName]
    .filter(([name]) => name !== others)
    .toSorted(([, one], [, other]) =>
      one.charged === other.charged
        ? other.requests - one.requests
        : one.charged > other.charged
          ? -1
          : 1,
    )
    .slice(0, mostSeries)
    .map(([name]) => name);
}

function toSeries(options: {
  readonly name: string;
  readonly label: string;
  readonly span: Span;
  readonly points: readonly UsagePoint[];
}) {
  const totals = new Sum();
  const byStep = new Map(options.span.startsMs.map((startMs) => [startMs, new Sum()]));
  for (const point of options.points) {
    totals.add(point);
    byStep.get(point.startMs)?.add(point);
  }
  return {
    name: options.name,
    label: options.label,
    totals: totals.view,
    points: [...byStep.values()].map((sum) => sum.view),
  };
}

export function totalsOf(points: readonly UsagePoint[]): SumView {
  const totals = new Sum();
  for (const point of points) totals.add(point);
  return totals.view;
}
