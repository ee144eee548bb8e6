import { NativeSelect } from "@mantine/core";
import { type Series, TimeChart } from "../../components/chart/time-chart.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { formatCompact, formatCount, formatMs } from "../../format/figures.ts";
import { type Figure, figureNamed, figures, formatAboutMs } from "./figures.ts";
import classes from "./page.module.css";
import type { Group, Sums, Usage } from "./usage.ts";

interface MainChartProps {
  readonly usage: Usage;
  readonly by: Group;
  readonly figure: Figure;
  readonly onFigure: (name: string) => void;
}

/** One figure, told apart by model, key or account. */
export function MainChart({ usage, by, figure, onFigure }: MainChartProps) {
  const title = `${figure.label} by ${by}`;
  const series = shownIn(usage, figure);
  return (
    <Panel
      title={title}
      actions={
        <NativeSelect
          size="xs"
          aria-label="Metric"
          value={figure.name}
          data={figures.map(({ name, label }) => ({ value: name, label }))}
          onChange={(event) => onFigure(figureNamed(event.currentTarget.value).name)}
        />
      }
    >
      <TimeChart
        title={title}
        points={usage.points.map(({ start }, at) => ({
          at: start,
          values: Object.fromEntries(
            series.map(({ name, points }) => {
              const point = points[at];
              return [name, point === undefined ? null : figure.read(point)];
            }),
          ),
        }))}
        series={series.map(({ name, label, totals }) => ({
          key: name,
          label,
          total: figure.total(totals),
        }))}
        kind={figure.kind}
        format={figure.format}
        formatAxis={figure.formatAxis}
        isCount={figure.isCount === true}
        height={356}
        zone={usage.grain === "day" ? usage.time_zone : undefined}
      />
    </Panel>
  );
}

/** What was only ever rejected has nothing to show in the other figures. */
function shownIn({ series }: Usage, figure: Figure): Usage["series"] {
  const called = series.filter(({ totals }) => totals.requests > 0);
  return figure.name === "rejected" || called.length === 0 ? series : called;
}

interface Line extends Series {
  readonly read: (sums: Sums) => number | null;
}

const served: Line = {
  key: "served",
  label: "Successful",
  read: ({ requests, failures }) => requests - failures,
};
const failed: Line = {
  key: "failed",
  label: "Errors",
  color: "var(--svc-bad)",
  read: ({ failures }) => failures,
};
const rejected: Line = {
  key: "rejected",
  label: "Rejected",
  color: "var(--svc-warn)",
  read: (sums) => sums.rejected,
};
const tokens: readonly Line[] = [
  { key: "input", label: "Input", read: ({ input_tokens }) => input_tokens },
  { key: "output", label: "Output", read: ({ output_tokens }) => output_tokens },
];
const latency: readonly Line[] = [
  { key: "p50", label: "Median", read: ({ latency_p50_ms }) => latency_p50_ms },
  { key: "p95", label: "p95", read: ({ latency_p95_ms }) => latency_p95_ms },
];
const firstToken: readonly Line[] = [
  { key: "p50", label: "Median", read: ({ first_byte_p50_ms }) => first_byte_p50_ms },
  { key: "p95", label: "p95", read: ({ first_byte_p95_ms }) => first_byte_p95_ms },
];

/** The same time by other figures, of all together. */
export function SideCharts({ usage }: { readonly usage: Usage }) {
  const shared = { usage, height: 176 };
  const counted = {
    kind: "bars",
    format: formatCount,
    formatAxis: formatCompact,
    isCount: true,
  } as const;
  const timed = { kind: "lines", format: formatAboutMs, formatAxis: formatMs } as const;
  return (
    <div className={classes.charts}>
      <LinesChart title="Requests" lines={[served, failed, rejected]} {...shared} {...counted} />
      <LinesChart title="Tokens" lines={tokens} {...shared} {...counted} />
      <LinesChart title="Latency" lines={latency} {...shared} {...timed} />
      <LinesChart title="Time to first token" lines={firstToken} {...shared} {...timed} />
    </div>
  );
}

interface LinesChartProps extends Pick<Figure, "kind" | "format" | "formatAxis" | "isCount"> {
  readonly title: string;
  readonly usage: Usage;
  readonly lines: readonly Line[];
  readonly height: number;
}

function LinesChart(props: LinesChartProps) {
  const { title, usage, lines, kind, format, formatAxis, isCount = false, height } = props;
  return (
    <div className={classes.cell}>
      <Panel title={title}>
        <TimeChart
          title={title}
          points={usage.points.map((point) => ({
            at: point.start,
            values: Object.fromEntries(lines.map(({ key, read }) => [key, read(point)])),
          }))}
          series={lines.map(({ read, ...line }) => {
            const total = read(usage.totals);
            return { ...line, total: total === null ? "–" : format(total) };
          })}
          kind={kind}
          format={format}
          formatAxis={formatAxis}
          isCount={isCount}
          height={height}
          zone={usage.grain === "day" ? usage.time_zone : undefined}
        />
      </Panel>
    </div>
  );
}
