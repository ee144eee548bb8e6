import type { ChartPoint } from "./chart-scale.ts";
import classes from "./time-chart.module.css";

export interface ColoredSeries {
  readonly key: string;
  readonly label: string;
  readonly color: string;
}

interface ChartTipProps {
  readonly time: string;
  readonly values: ChartPoint["values"];
  readonly series: readonly ColoredSeries[];
  readonly format: (value: number) => string;
  readonly hasSum: boolean;
  readonly x: number;
  readonly isOnRight: boolean;
}

/** The values at the pointer. Keyboard users find them in the table. */
export function ChartTip({ time, values, series, format, hasSum, x, isOnRight }: ChartTipProps) {
  // Of many, those that are nothing here would only hide the others.
  const shown = hasSum ? series.filter(({ key }) => (values[key] ?? 0) !== 0) : series;
  const sum = series.reduce((total, { key }) => total + (values[key] ?? 0), 0);
  return (
    <div
      className={classes.tip}
      aria-hidden="true"
      style={{ left: x, transform: `translateX(${isOnRight ? "calc(-100% - 12px)" : "12px"})` }}
    >
      <p className={classes.time}>{time}</p>
      {shown.toReversed().map(({ key, label, color }) => {
        const value = values[key];
        return (
          <p key={key} className={classes.row}>
            <span className={classes.swatch} style={{ background: color }} />
            <span className={classes.name}>{label}</span>
            <strong>{value === undefined || value === null ? "–" : format(value)}</strong>
          </p>
        );
      })}
      {hasSum && (
        <p className={classes.sum}>
          <span className={classes.name}>Total</span>
          <strong>{format(sum)}</strong>
        </p>
      )}
    </div>
  );
}
