const width = 120;
const height = 28;

/** The shape of a row of figures; it is beside a figure that says it, so readers are spared it. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const top = Math.max(...values, 0);
  const points = values.map((value, at) => {
    const x = values.length < 2 ? 0 : (at / (values.length - 1)) * width;
    const y = top === 0 ? height - 2 : height - 2 - (value / top) * (height - 6);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  if (points.length < 2) return null;
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
      <polygon
        points={`0,${height} ${points.join(" ")} ${width},${height}`}
        fill="currentColor"
        fillOpacity="0.1"
      />
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
