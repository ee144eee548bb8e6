import type { ChartPoint } from "../../../components/chart/chart-scale.ts";
import { ShareBar } from "../../../components/chart/share-bar.tsx";
import { TimeChart } from "../../../components/chart/time-chart.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { formatCount, formatShare, formatUsdAxis } from "../../../format/figures.ts";
import { formatUsd } from "../../../format/money.ts";
import type { Details } from "./limits.ts";
import classes from "./page.module.css";

const shownDays = 30;

export function SpendChart({ details }: { readonly details: Details }) {
  const points = lastDays(details.by_day, shownDays, Date.now());
  return (
    <Panel title="Spend by day" about={`Last ${shownDays} days, UTC.`}>
      <TimeChart
        title="Spend by day"
        points={points}
        series={[{ key: "charged", label: "Charged" }]}
        format={(value) => formatUsd(value.toFixed(9))}
        formatAxis={formatUsdAxis}
        height={180}
      />
    </Panel>
  );
}

interface SpendRow {
  readonly id: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly receipts: number;
  readonly charged_usd: string;
}

export function SpendByModel({ details }: { readonly details: Details }) {
  const rows = details.by_model.map(({ model, ...spent }) => ({
    id: model,
    name: model,
    ...spent,
  }));
  return <SpendTable title="Spend by model" what="Model" rows={rows} />;
}

export function SpendByKey({ details }: { readonly details: Details }) {
  const hints = new Map(details.key_list.map(({ id, hint }) => [id, hint]));
  const rows = details.by_key.map(({ key, name, ...spent }) => ({
    id: key,
    name: name ?? (key === "temporary" ? "Temporary keys" : "No name"),
    note: hints.get(key),
    ...spent,
  }));
  return <SpendTable title="Spend by key" what="Key" rows={rows} />;
}

function SpendTable(props: {
  readonly title: string;
  readonly what: string;
  readonly rows: readonly SpendRow[];
}) {
  const { title, what, rows } = props;
  const total = rows.reduce((sum, { charged_usd }) => sum + Number(charged_usd), 0);
  const columns: readonly Column<SpendRow>[] = [
    {
      header: what,
      cell: ({ name, note }) => (
        <div className="lines">
          {name}
          {note !== undefined && <code>{note}</code>}
        </div>
      ),
    },
    { header: "Requests", isFigure: true, cell: ({ receipts }) => formatCount(receipts) },
    { header: "Charged", isFigure: true, cell: ({ charged_usd }) => <Money usd={charged_usd} /> },
    {
      header: "Share",
      isFigure: true,
      cell: ({ charged_usd }) => {
        const share = total === 0 ? 0 : Number(charged_usd) / total;
        return (
          <div className={classes.share}>
            <ShareBar share={share} />
            <span>{formatShare(share)}</span>
          </div>
        );
      },
    },
  ];
  return (
    <Panel title={title} about="Since account creation." isFlush>
      <DataTable
        caption={title}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        empty="No spend yet."
      />
    </Panel>
  );
}

const dayMs = 86_400_000;

/** The days up to today, in UTC; those without calls are 0. */
export function lastDays(
  rows: readonly { readonly day: string; readonly charged_usd: string }[],
  count: number,
  nowMs: number,
): readonly ChartPoint[] {
  const charged = new Map(rows.map(({ day, charged_usd }) => [day, Number(charged_usd)]));
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(nowMs - (count - 1 - at) * dayMs).toISOString().slice(0, 10);
    return { at: `${day}T00:00:00Z`, values: { charged: charged.get(day) ?? 0 } };
  });
}
