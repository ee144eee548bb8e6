export interface ChartPoint {
  readonly at: string;
  /** By the key of the series; null is a gap in a line. */
  readonly values: Readonly<Record<string, number | null>>;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Round figures from 0 up to the top one or just above it; about `count` of them. */
export function niceTicks(top: number, count: number): readonly number[] {
  if (!(top > 0)) return [0, 1];
  const rough = top / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * magnitude >= rough) ?? 10) * magnitude;
  const steps = Math.ceil(top / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
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

/** How the moments of an axis and of a tooltip are said. */
export function timeLabels(points: readonly ChartPoint[]): {
  readonly axis: (at: string) => string;
  readonly full: (at: string) => string;
} {
  const firstMs = Date.parse(points[0]?.at ?? "");
  const stepMs = Date.parse(points[1]?.at ?? "") - firstMs;
  const spanMs = Date.parse(points.at(-1)?.at ?? "") - firstMs;
  // Days are counted in UTC; in another zone they would be named wrongly.
  const zone = stepMs >= dayMs ? { timeZone: "UTC" } : {};
  const day = { day: "numeric", month: "short", ...zone } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const axis = new Intl.DateTimeFormat("en", stepMs < dayMs && spanMs <= 36 * hourMs ? clock : day);
  const full = new Intl.DateTimeFormat(
    "en",
    stepMs < dayMs ? { ...day, ...clock } : { ...day, year: "numeric", weekday: "short" },
  );
  return {
    axis: (at) => axis.format(Date.parse(at)),
    full: (at) => full.format(Date.parse(at)),
  };
}
