import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import {
  latencyBoundsMs,
  noShortestMs,
  othersName,
  type UsageGrain,
  type UsagePoint,
} from "../../ledger/reports.ts";
import { widen } from "../../ledger/rollups.ts";
import { percentileMs, type Times } from "./percentile.ts";

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

type Sums = Omit<UsagePoint, "startMs" | "name">;

/** What is added up on the way. Thousands of them hold the loop that serves calls: plain loops. */
class Sum {
  receipts = 0;
  failures = 0;
  inputTokens = 0;
  outputTokens = 0;
  charged = 0n;
  shortestMs = noShortestMs;
  longestMs = 0;
  shortestFirstByteMs = noShortestMs;
  longestFirstByteMs = 0;
  readonly durations = noCounts();
  readonly firstBytes = noCounts();

  add(other: Sums): void {
    this.receipts += other.receipts;
    this.failures += other.failures;
    this.inputTokens += other.inputTokens;
    this.outputTokens += other.outputTokens;
    this.charged += other.charged;
    widen(this, other);
    addCounts(this.durations, other.durations);
    addCounts(this.firstBytes, other.firstBytes);
  }

  get view() {
    const latency: Times = {
      counts: this.durations,
      shortestMs: this.shortestMs,
      longestMs: this.longestMs,
    };
    const firstByte: Times = {
      counts: this.firstBytes,
      shortestMs: this.shortestFirstByteMs,
      longestMs: this.longestFirstByteMs,
    };
    return {
      requests: this.receipts,
      failures: this.failures,
      input_tokens: this.inputTokens,
      output_tokens: this.outputTokens,
      charged_usd: toUsd(this.charged),
      latency_p50_ms: percentileMs(latency, 0.5),
      latency_p95_ms: percentileMs(latency, 0.95),
      first_byte_p50_ms: percentileMs(firstByte, 0.5),
      first_byte_p95_ms: percentileMs(firstByte, 0.95),
    };
  }
}

function addCounts(counts: number[], others: readonly number[]): void {
  for (let at = 0; at < counts.length; at++) counts[at] = (counts[at] ?? 0) + (others[at] ?? 0);
}

type SumView = Sum["view"];

/** How many are told apart in a chart; the others are one. */
const mostSeries = 7;
const others = othersName;

/** Every step has a place in it, whether something happened then or not. */
export function toUsageView(options: {
  readonly span: Span;
  readonly points: readonly UsagePoint[];
  readonly labels: ReadonlyMap<string, string>;
}) {
  const { span, points, labels } = options;
  const kept = largest(points);
  const series = new Map<string, readonly Sum[]>();
  for (const name of kept) series.set(name, stepsOf(span));
  const places = new Map(span.startsMs.map((startMs, place) => [startMs, place]));
  for (const point of points) {
    const name = series.has(point.name) ? point.name : others;
    const steps = series.get(name) ?? stepsOf(span);
    series.set(name, steps);
    steps[places.get(point.startMs) ?? -1]?.add(point);
  }
  const all = stepsOf(span);
  for (const steps of series.values()) for (const [at, sum] of steps.entries()) all[at]?.add(sum);
  return {
    totals: totalsOf(all),
    points: all.map((sum, at) => ({ start: toDateText(span.startsMs[at] ?? 0), ...sum.view })),
    series: [...series].map(([name, steps]) => ({
      name,
      label: labels.get(name) ?? name,
      totals: totalsOf(steps),
      points: steps.map((sum) => sum.view),
    })),
  };
}

const stepsOf = ({ startsMs }: Span): readonly Sum[] => startsMs.map(() => new Sum());

function largest(points: readonly UsagePoint[]): readonly string[] {
  const byName = new Map<string, { charged: bigint; receipts: number }>();
  for (const { name, charged, receipts } of points) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { charged, receipts });
    else {
      known.charged += charged;
      known.receipts += receipts;
    }
  }
  byName.delete(others);
  return [...byName]
    .toSorted(([, one], [, other]) =>
      one.charged === other.charged
        ? other.receipts - one.receipts
        : one.charged > other.charged
          ? -1
          : 1,
    )
    .slice(0, mostSeries)
    .map(([name]) => name);
}

export function totalsOf(all: readonly Sums[]): SumView {
  const totals = new Sum();
  for (const sums of all) totals.add(sums);
  return totals.view;
}
