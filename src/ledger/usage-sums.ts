import { mostNames, othersName, type UsagePoint } from "./reports.ts";
import { widen } from "./rollups.ts";

type Counted = Omit<UsagePoint, "startMs" | "name">;

interface Point {
  readonly startMs: number;
  readonly name: string;
  receipts: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  charged: bigint;
  shortestMs: number;
  longestMs: number;
  shortestFirstByteMs: number;
  longestFirstByteMs: number;
  readonly durations: number[];
  readonly firstBytes: number[];
}

/** Adds up what charts show, by step of time and name. */
export class UsageSums {
  readonly #points = new Map<string, Point>();

  add(of: { readonly startMs: number; readonly name: string; readonly sums: Counted }): void {
    const { startMs, name, sums } = of;
    const place = `${startMs} ${name}`;
    const known = this.#points.get(place);
    if (known !== undefined) return merge(known, sums);
    this.#points.set(place, {
      startMs,
      name,
      receipts: sums.receipts,
      failures: sums.failures,
      inputTokens: sums.inputTokens,
      outputTokens: sums.outputTokens,
      charged: sums.charged,
      shortestMs: sums.shortestMs,
      longestMs: sums.longestMs,
      shortestFirstByteMs: sums.shortestFirstByteMs,
      longestFirstByteMs: sums.longestFirstByteMs,
      durations: [...sums.durations],
      firstBytes: [...sums.firstBytes],
    });
  }

  /** In the order of time, then of names; of the dearest names, and the others together. */
  points(most = mostNames): readonly UsagePoint[] {
    const points = [...this.#points.values()];
    const kept = dearestNames(points, most);
    if (kept === undefined) return points.toSorted(inOrder);
    const few = new UsageSums();
    for (const point of points)
      few.add({
        startMs: point.startMs,
        name: kept.has(point.name) ? point.name : othersName,
        sums: point,
      });
    return [...few.#points.values()].toSorted(inOrder);
  }
}

/** Undefined where there are no more than fit. */
export function dearestNames(
  of: Iterable<{ readonly name: string; readonly charged: bigint; readonly receipts: number }>,
  most = mostNames,
): ReadonlySet<string> | undefined {
  const byName = new Map<string, { charged: bigint; receipts: number }>();
  for (const { name, charged, receipts } of of) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { charged, receipts });
    else {
      known.charged += charged;
      known.receipts += receipts;
    }
  }
  byName.delete(othersName);
  if (byName.size <= most) return undefined;
  const sorted = [...byName].toSorted(([nameOfOne, one], [nameOfOther, other]) => {
    if (one.charged !== other.charged) return one.charged > other.charged ? -1 : 1;
    if (one.receipts !== other.receipts) return other.receipts - one.receipts;
    return nameOfOne < nameOfOther ? -1 : 1;
  });
  return new Set(sorted.slice(0, most).map(([name]) => name));
}

function inOrder(one: UsagePoint, other: UsagePoint): number {
  if (one.startMs !== other.startMs) return one.startMs - other.startMs;
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

function merge(point: Point, sums: Counted): void {
  point.receipts += sums.receipts;
  point.failures += sums.failures;
  point.inputTokens += sums.inputTokens;
  point.outputTokens += sums.outputTokens;
  point.charged += sums.charged;
  widen(point, sums);
  addCounts(point.durations, sums.durations);
  addCounts(point.firstBytes, sums.firstBytes);
}

function addCounts(counts: number[], others: readonly number[]): void {
  for (let at = 0; at < counts.length; at++) counts[at] = (counts[at] ?? 0) + (others[at] ?? 0);
}
