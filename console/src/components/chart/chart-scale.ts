import { formatMoment, timeZone } from "../../format/moments.ts";

export interface ChartPoint {
  readonly at: string;
  /** By the key of the series; null is a gap in a line. */
  readonly values: Readonly<Record<string, number | null>>;
}

const hourMs = 3_600_000;

interface TickOptions {
  readonly top: number;
  /** About how many there are. */
  readonly count: number;
  /** What is counted has no halves. */
  readonly isWhole?: boolean;
}

/** Round figures from 0 up to the top one or just above it. */
export function niceTicks({ top, count, isWhole = false }: TickOptions): readonly number[] {
  if (!(top > 0)) return [0, 1];
  const rough = Math.max(top / count, isWhole ? 1 : 0);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((one) => one * magnitude);
  const step =
    steps.find((one) => one >= rough && !(isWhole && !Number.isInteger(one))) ?? 10 * magnitude;
  const spaces = Math.ceil(top / step - 1e-9);
  return Array.from({ length: spaces + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Where each series begins and ends at each point, one upon the other. */
export function stack(
  points: readonly ChartPoint[],
  keys: readonly string[],
): readonly (readonly { readonly from: number; readonly to: number }[])[] {
  const tops = points.map(() => 0);
  return keys.map((key) =>
    points.map(({ values }, at) => {
      const from = tops[at] ?? 0;
      const to = from + (values[key] ?? 0);
      tops[at] = to;
      return { from, to };
    }),
  );
}

/** The highest that is drawn: of the sums where they are stacked, else of any value. */
export function topOf(options: {
  readonly points: readonly ChartPoint[];
  readonly keys: readonly string[];
  readonly isStacked: boolean;
}): number {
  const { points, keys, isStacked } = options;
  const tops = points.map(({ values }) => {
    const present = keys.map((key) => values[key] ?? 0);
    return isStacked ? present.reduce((sum, value) => sum + value, 0) : Math.max(0, ...present);
  });
  return Math.max(0, ...tops);
}

/**
 * Which points of an axis have a label: at least `every` apart, and none that repeats the one before.
 * Of the hours of a week these are the first of their days.
 */
export function labeledPlaces(labels: readonly string[], every: number): ReadonlySet<number> {
  const places = new Set<number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const [at, label] of labels.entries()) {
    if (label === labels[at - 1] || at - last < every) continue;
    places.add(at);
    last = at;
  }
  return places;
}

/** How the moments of an axis and of a tooltip are said. */
export function timeLabels(
  points: readonly ChartPoint[],
  zone = timeZone(),
): {
  readonly axis: (at: string) => string;
  readonly full: (at: string) => string;
} {
  const firstMs = Date.parse(points[0]?.at ?? "");
  const stepMs = Date.parse(points[1]?.at ?? "") - firstMs;
  const spanMs = Date.parse(points.at(-1)?.at ?? "") - firstMs;
  // A day on which clocks change has 23 hours.
  const isOfDays = stepMs > 12 * hourMs;
  const axis = !isOfDays && spanMs <= 36 * hourMs ? "clock" : "shortDay";
  const full = isOfDays ? "weekday" : "shortMoment";
  return {
    axis: (at) => formatMoment(Date.parse(at), axis, zone),
    full: (at) => formatMoment(Date.parse(at), full, zone),
  };
}
