const width = 120;
const height = 28;

/** The shape of a row of figures; where there is none, the line has a gap. It is beside a figure that says it, so readers are spared it. */
export function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  if (values.length < 2 || values.every((value) => value === null)) return null;
  const top = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const x = (at: number) => (at / (values.length - 1)) * width;
  const y = (value: number) => (top === 0 ? height - 2 : height - 2 - (value / top) * (height - 6));
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      width="100%"
      height={height}
      display="block"
      aria-hidden="true"
      focusable="false"
    >
      {runsOf(values).map(({ from, run }) => {
        const points = run.map((value, at) => `${x(from + at).toFixed(1)},${y(value).toFixed(1)}`);
        // One alone would have no length.
        const line = points.length === 1 ? dashAt(x(from), y(run[0] ?? 0)) : points.join(" ");
        return (
          <g key={from}>
            <polygon
              points={`${x(from)},${height} ${points.join(" ")} ${x(from + run.length - 1)},${height}`}
              fill="currentColor"
              fillOpacity="0.1"
            />
            <polyline
              points={line}
              fill="none"
              stroke="currentColor"
              strokeWidth="1.5"
              vectorEffect="non-scaling-stroke"
            />
          </g>
        );
      })}
    </svg>
  );
}

const dashAt = (x: number, y: number) =>
  `${Math.max(0, x - 1).toFixed(1)},${y.toFixed(1)} ${Math.min(width, x + 1).toFixed(1)},${y.toFixed(1)}`;

/** What lies between two gaps, and where it begins. */
export function runsOf(
  values: readonly (number | null)[],
): readonly { readonly from: number; readonly run: readonly number[] }[] {
  const runs: { from: number; run: number[] }[] = [];
  let open: { from: number; run: number[] } | undefined;
  for (const [at, value] of values.entries()) {
    if (value === null) open = undefined;
    else if (open !== undefined) open.run.push(value);
    else {
      open = { from: at, run: [value] };
      runs.push(open);
    }
  }
  return runs;
}
