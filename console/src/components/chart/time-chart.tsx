import { useId, useState } from "react";
import { type Column, DataTable } from "../table/data-table.tsx";
import { ChartPlot } from "./chart-plot.tsx";
import { type ChartPoint, timeLabels } from "./chart-scale.ts";
import classes from "./time-chart.module.css";

export interface Series {
  readonly key: string;
  readonly label: string;
  /** A variable of global.css, where the color has a meaning; else the next of the row. */
  readonly color?: string;
  /** What it comes to over the whole time, beside its name. */
  readonly total?: string;
}

export type ChartKind = "bars" | "area" | "lines";

interface TimeChartProps {
  /** What is drawn, for screen readers: `Spend by model`. */
  readonly title: string;
  readonly points: readonly ChartPoint[];
  /** At most eight; sum up the rest as one. Bars and areas are stacked, lines are not. */
  readonly series: readonly Series[];
  readonly kind?: ChartKind;
  readonly format: (value: number) => string;
  /** Shorter, for the axis. */
  readonly formatAxis?: (value: number, step: number) => string;
  /** Its axis has whole numbers. */
  readonly isCount?: boolean;
  /** Of days, where they are not in the reader's own zone. */
  readonly zone?: string | undefined;
  readonly height?: number;
}

/** Values over time, as a chart with tooltips or as a table. */
export function TimeChart(props: TimeChartProps) {
  const { title, points, series, kind = "bars", format, zone, height = 220 } = props;
  const { formatAxis = format, isCount = false } = props;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [isTable, setTable] = useState(false);
  const tableId = useId();
  const colored = series.map((one, at) => ({
    ...one,
    color: one.color ?? `var(--svc-series-${Math.min(at, 7) + 1})`,
  }));
  const shown = colored.filter(({ key }) => !hidden.has(key));
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    setHidden(next);
  };
  return (
    <figure className={classes.chart} aria-label={title}>
      {isTable ? (
        <section id={tableId} className={classes.table} tabIndex={0} aria-label={`${title}, table`}>
          <Figures title={title} points={points} series={series} format={format} zone={zone} />
        </section>
      ) : (
        <ChartPlot
          title={title}
          points={points}
          series={shown}
          kind={kind}
          format={format}
          formatAxis={formatAxis}
          isCount={isCount}
          height={height}
          zone={zone}
        />
      )}
      <figcaption className={classes.foot}>
        <div className={classes.legend}>
          {series.length > 1 &&
            colored.map(({ key, label, color, total }) => (
              <button
                key={key}
                type="button"
                className={classes.key}
                aria-pressed={!hidden.has(key)}
                onClick={() => toggle(key)}
              >
                <span className={classes.swatch} style={{ background: color }} />
                {label}
                {total !== undefined && <span className={classes.total}>{total}</span>}
              </button>
            ))}
        </div>
        <button
          type="button"
          className={classes.view}
          aria-expanded={isTable}
          aria-controls={isTable ? tableId : undefined}
          aria-label={`${isTable ? "Show as chart" : "Show as table"}: ${title}`}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? "Chart" : "Table"}
        </button>
      </figcaption>
    </figure>
  );
}

function Figures(props: Pick<TimeChartProps, "title" | "points" | "series" | "format" | "zone">) {
  const { title, points, series, format, zone } = props;
  const { full } = timeLabels(points, zone);
  const columns: readonly Column<ChartPoint>[] = [
    { header: "Time", cell: ({ at }) => <span className="nowrap">{full(at)}</span> },
    ...series.map(({ key, label }) => ({
      header: label,
      isFigure: true,
      cell: ({ values }: ChartPoint) => {
        const value = values[key];
        return value === undefined || value === null ? "–" : format(value);
      },
    })),
  ];
  return (
    <DataTable
      caption={title}
      columns={columns}
      rows={points.toReversed()}
      rowKey={({ at }) => at}
    />
  );
}
