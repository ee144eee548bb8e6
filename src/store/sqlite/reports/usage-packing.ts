import type { UsagePoint } from "../../../ledger/reports.ts";
import {
  durationColumns,
  endColumns,
  endValues,
  toEnds,
} from "../../sql/reports/rollup-columns.ts";

/** Points as threads hand them over: without a copy, so that it holds up nobody. */
export interface PackedUsage {
  readonly names: readonly string[];
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly charged: BigInt64Array<ArrayBuffer>;
}

const countsEach = durationColumns.length;
/** Start, place of the name, receipts, failures, tokens in and out; then the ends, and the counts. */
const plain = 6;
const countsFrom = plain + endColumns.length;
const numbersEach = countsFrom + 2 * countsEach;

export function packUsage(points: readonly UsagePoint[]): PackedUsage {
  const places = new Map<string, number>();
  const numbers = new Float64Array(points.length * numbersEach);
  const charged = new BigInt64Array(points.length);
  for (const [at, point] of points.entries()) {
    const place = places.get(point.name) ?? places.size;
    places.set(point.name, place);
    const { startMs, receipts, failures, inputTokens, outputTokens } = point;
    const first = at * numbersEach;
    numbers.set([startMs, place, receipts, failures, inputTokens, outputTokens], first);
    numbers.set(endValues(point), first + plain);
    numbers.set(point.durations, first + countsFrom);
    numbers.set(point.firstBytes, first + countsFrom + countsEach);
    charged[at] = point.charged;
  }
  return { names: [...places.keys()], numbers, charged };
}

export function unpackUsage({ names, numbers, charged }: PackedUsage): readonly UsagePoint[] {
  const points: UsagePoint[] = [];
  for (let at = 0; at < charged.length; at++) {
    const first = at * numbersEach;
    const number = (place: number) => numbers[first + place] ?? 0;
    const counts = (place: number) =>
      Array.from(numbers.subarray(first + place, first + place + countsEach));
    points.push({
      startMs: number(0),
      name: names[number(1)] ?? "",
      receipts: number(2),
      failures: number(3),
      inputTokens: number(4),
      outputTokens: number(5),
      charged: charged[at] ?? 0n,
      ...toEnds([number(plain), number(plain + 1), number(plain + 2), number(plain + 3)]),
      durations: counts(countsFrom),
      firstBytes: counts(countsFrom + countsEach),
    });
  }
  return points;
}
