import { useElementSize } from "@mantine/hooks";
import { type PointerEvent, useState } from "react";
import {
  type ChartPoint,
  labeledPlaces,
  niceTicks,
  stack,
  timeLabels,
  topOf,
} from "./chart-scale.ts";
import type { ColoredSeries } from "./chart-tip.tsx";
import { ChartTip } from "./chart-tip.tsx";
import classes from "./time-chart.module.css";

interface PlotProps {
  readonly title: string;
  readonly points: readonly ChartPoint[];
  readonly series: readonly ColoredSeries[];
  readonly kind: "bars" | "area" | "lines";
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number, step: number) => string;
  readonly isCount: boolean;
  readonly height: number;
  readonly zone?: string | undefined;
}

const bottom = 24;
const top = 8;
const labelEveryPx = 88;
const halfLabelPx = 20;

/** Where things are: in pixels, from the left and from the top. */
interface Geometry {
  readonly left: number;
  readonly width: number;
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
  readonly bandWidth: number;
}

export function ChartPlot(props: PlotProps) {
  const { title, points, series, kind, format, formatAxis, height, zone } = props;
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [pointed, setPointed] = useState<number>();
  const ticks = ticksOf(props);
  const geometry = measure({ width, height, ticks, points, kind, formatAxis });
  const { left, x, y, bandWidth } = geometry;
  const labels = timeLabels(points, zone);
  const every = Math.max(
    1,
    Math.ceil((points.length * labelEveryPx) / Math.max(geometry.width, 1)),
  );
  const axisLabels = points.map(({ at }) => labels.axis(at));
  const labeled = labeledPlaces(axisLabels, every);
  const onMove = (event: PointerEvent<SVGSVGElement>) => {
    const px = event.clientX - event.currentTarget.getBoundingClientRect().left - left;
    const at = kind === "bars" ? Math.floor(px / bandWidth) : Math.round(px / bandWidth);
    setPointed(Math.max(0, Math.min(points.length - 1, at)));
  };
  const point = pointed === undefined ? undefined : points[pointed];
  return (
    <div ref={ref} className={classes.plot} style={{ height }}>
      {width > 0 && (
        <svg
          role="img"
          aria-label={`${title}, chart`}
          width={width}
          height={height}
          onPointerMove={onMove}
          onPointerDown={onMove}
          onPointerLeave={() => setPointed(undefined)}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line className={classes.grid} x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
              <text className={classes.label} x={left - 8} y={y(tick) + 4} textAnchor="end">
                {formatAxis(tick, ticks[1] ?? 1)}
              </text>
            </g>
          ))}
          {points.map(({ at }, index) =>
            labeled.has(index) ? (
              <text
                key={at}
                className={classes.label}
                x={x(index)}
                y={height - 6}
                textAnchor={anchorOf({ kind, index, x: x(index), width })}
              >
                {axisLabels[index]}
              </text>
            ) : null,
          )}
          {pointed !== undefined && (
            <Cursor geometry={geometry} at={pointed} kind={kind} height={height} />
          )}
          <Shapes {...props} geometry={geometry} />
        </svg>
      )}
      {pointed !== undefined && point !== undefined && (
        <ChartTip
          time={labels.full(point.at)}
          values={point.values}
          series={series}
          format={format}
          hasSum={kind !== "lines" && series.length > 1}
          x={x(pointed)}
          isOnRight={x(pointed) > left + geometry.width / 2}
        />
      )}
    </div>
  );
}

function ticksOf({ points, series, kind, isCount }: PlotProps): readonly number[] {
  const keys = series.map(({ key }) => key);
  const top = topOf({ points, keys, isStacked: kind !== "lines" });
  return niceTicks({ top, count: 4, isWhole: isCount });
}

/** A label at an end of the axis is not cut. */
function anchorOf(options: {
  readonly kind: PlotProps["kind"];
  readonly index: number;
  readonly x: number;
  readonly width: number;
}): "start" | "middle" | "end" {
  const { kind, index, x, width } = options;
  if (kind !== "bars" && index === 0) return "start";
  return x > width - halfLabelPx ? "end" : "middle";
}

function measure(options: {
  readonly width: number;
  readonly height: number;
  readonly ticks: readonly number[];
  readonly points: readonly ChartPoint[];
  readonly kind: PlotProps["kind"];
  readonly formatAxis: (value: number, step: number) => string;
}): Geometry {
  const { width, height, ticks, points, kind, formatAxis } = options;
  const longest = Math.max(...ticks.map((tick) => formatAxis(tick, ticks[1] ?? 1).length));
  const left = longest * 6.6 + 12;
  const inner = Math.max(0, width - left - (kind === "bars" ? 0 : 6));
  const highest = ticks.at(-1) ?? 1;
  const bandWidth = inner / Math.max(1, kind === "bars" ? points.length : points.length - 1);
  return {
    left,
    width: inner,
    bandWidth,
    x: (at) => left + (kind === "bars" ? at + 0.5 : at) * bandWidth,
    y: (value) => top + (1 - value / highest) * (height - top - bottom),
  };
}

function Cursor(props: {
  readonly geometry: Geometry;
  readonly at: number;
  readonly kind: PlotProps["kind"];
  readonly height: number;
}) {
  const { geometry, at, kind, height } = props;
  const { x, bandWidth } = geometry;
  const width = kind === "bars" ? bandWidth : 1;
  return (
    <rect
      className={kind === "bars" ? classes.band : classes.cursor}
      x={x(at) - width / 2}
      y={top}
      width={width}
      height={height - top - bottom}
    />
  );
}

function Shapes({ points, series, kind, geometry }: PlotProps & { readonly geometry: Geometry }) {
  const { x, y, bandWidth } = geometry;
  const keys = series.map(({ key }) => key);
  if (kind === "lines")
    return series.map(({ key, color }) => (
      <g key={key}>
        <path className={classes.line} d={linePath({ points, key, geometry })} stroke={color} />
        {lonePoints(points, key).map(({ at, value }) => (
          <circle key={at} cx={x(at)} cy={y(value)} r={2.5} fill={color} />
        ))}
      </g>
    ));
  const layers = stack(points, keys);
  if (kind === "area")
    return series.map(({ key, color }, at) => {
      const layer = layers[at] ?? [];
      const up = layer.map(({ to }, index) => `${x(index)},${y(to)}`);
      const down = layer.map(({ from }, index) => `${x(index)},${y(from)}`).toReversed();
      return (
        <g key={key}>
          <polygon points={[...up, ...down].join(" ")} fill={color} fillOpacity={0.22} />
          <polyline className={classes.line} points={up.join(" ")} stroke={color} />
        </g>
      );
    });
  const gap = Math.min(4, bandWidth * 0.25);
  return series.map(({ key, color }, at) => (
    <g key={key} fill={color}>
      {(layers[at] ?? []).map(({ from, to }, index) =>
        to > from ? (
          <rect
            key={points[index]?.at}
            x={x(index) - (bandWidth - gap) / 2}
            width={bandWidth - gap}
            y={y(to)}
            height={Math.max(1, y(from) - y(to))}
            rx={Math.min(1.5, bandWidth / 6)}
          />
        ) : null,
      )}
    </g>
  ));
}

/** Between two gaps there is no line to see: those are dots. */
function lonePoints(points: readonly ChartPoint[], key: string) {
  return points.flatMap(({ values }, at) => {
    const value = values[key] ?? undefined;
    const isLone = [at - 1, at + 1].every((next) => typeof points[next]?.values[key] !== "number");
    return value === undefined || !isLone ? [] : [{ at, value }];
  });
}

/** A null lifts the pen. */
function linePath(options: {
  readonly points: readonly ChartPoint[];
  readonly key: string;
  readonly geometry: Geometry;
}): string {
  const { points, key, geometry } = options;
  let isDown = false;
  return points
    .map(({ values }, at) => {
      const value = values[key] ?? undefined;
      if (value === undefined) {
        isDown = false;
        return "";
      }
      const move = isDown ? "L" : "M";
      isDown = true;
      return `${move}${geometry.x(at)},${geometry.y(value)}`;
    })
    .join("");
}
