import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import {
  latencyBoundsMs,
  noShortestMs,
  othersName,
  type UsagePoint,
} from "../../ledger/reports.ts";
import { widen } from "../../ledger/rollups.ts";
import type { RejectedPoint } from "../../rejections/rejection.ts";
import { percentileMs, type Times } from "./percentile.ts";
import type { Span } from "./span.ts";

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
  rejected = 0;

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

  /** With what was refused, which points of receipts do not know. */
  merge(other: Sum): void {
    this.add(other);
    this.rejected += other.rejected;
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
      rejected: this.rejected,
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

/** What was admitted and what was not, by the same names. */
export interface Counts {
  readonly points: readonly UsagePoint[];
  /** By minute or hour, in the order of time; each lies within a step. */
  readonly rejected: readonly RejectedPoint[];
}

interface Labeled extends Counts {
  readonly labels: ReadonlyMap<string, string>;
}

/** Every step has a place in it, whether something happened then or not. */
export function toUsageView({ span, labels, ...counts }: Labeled & { readonly span: Span }) {
  const { points, rejected } = counts;
  const kept = largest(counts, mostSeries);
  const series = new Map<string, readonly Sum[]>();
  for (const name of kept) series.set(name, stepsOf(span));
  const places = new Map(span.keysMs.map((keyMs, place) => [keyMs, place]));
  const seriesOf = (pointName: string) => {
    const name = series.has(pointName) ? pointName : others;
    const steps = series.get(name) ?? stepsOf(span);
    series.set(name, steps);
    return steps;
  };
  for (const point of points) seriesOf(point.name)[places.get(point.startMs) ?? -1]?.add(point);
  let place = 0;
  for (const { name, startMs, count } of rejected) {
    while ((span.startsMs[place + 1] ?? Number.POSITIVE_INFINITY) <= startMs) place++;
    const sum = seriesOf(name)[place];
    if (sum !== undefined) sum.rejected += count;
  }
  const all = stepsOf(span);
  for (const steps of series.values()) for (const [at, sum] of steps.entries()) all[at]?.merge(sum);
  return {
    totals: mergedOf(all),
    points: all.map((sum, at) => ({ start: toDateText(span.startsMs[at] ?? 0), ...sum.view })),
    series: [...series].map(([name, steps]) => ({
      name,
      label: labels.get(name) ?? name,
      totals: mergedOf(steps),
      points: steps.map((sum) => sum.view),
    })),
  };
}

/** Each name with what it comes to over the whole time, the dearest first and the others last. */
export function toListView({ labels, ...counts }: Labeled) {
  const sums = new Map<string, Sum>();
  const sumOf = (name: string) => {
    const sum = sums.get(name) ?? new Sum();
    sums.set(name, sum);
    return sum;
  };
  for (const point of counts.points) sumOf(point.name).add(point);
  for (const { name, count } of counts.rejected) sumOf(name).rejected += count;
  const names = [...largest(counts, Number.POSITIVE_INFINITY), othersName];
  return names.flatMap((name) => {
    const sum = sums.get(name);
    return sum === undefined ? [] : [{ name, label: labels.get(name) ?? name, totals: sum.view }];
  });
}

const stepsOf = ({ startsMs }: Span): readonly Sum[] => startsMs.map(() => new Sum());

/** The dearest, then those that were called or refused most. */
function largest({ points, rejected }: Counts, most: number): readonly string[] {
  const byName = new Map<string, { charged: bigint; receipts: number }>();
  for (const { name, charged, receipts } of points) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { charged, receipts });
    else {
      known.charged += charged;
      known.receipts += receipts;
    }
  }
  const refused = new Map<string, number>();
  for (const { name, count } of rejected) {
    if (!byName.has(name)) byName.set(name, { charged: 0n, receipts: 0 });
    refused.set(name, (refused.get(name) ?? 0) + count);
  }
  byName.delete(others);
  return [...byName]
    .toSorted(([nameOfOne, one], [nameOfOther, other]) => {
      if (one.charged !== other.charged) return one.charged > other.charged ? -1 : 1;
      if (one.receipts !== other.receipts) return other.receipts - one.receipts;
      return (refused.get(nameOfOther) ?? 0) - (refused.get(nameOfOne) ?? 0);
    })
    .slice(0, most)
    .map(([name]) => name);
}

export function totalsOf({ points, rejected }: Counts): SumView {
  const totals = new Sum();
  for (const sums of points) totals.add(sums);
  for (const { count } of rejected) totals.rejected += count;
  return totals.view;
}

function mergedOf(all: readonly Sum[]): SumView {
  const totals = new Sum();
  for (const sum of all) totals.merge(sum);
  return totals.view;
}
