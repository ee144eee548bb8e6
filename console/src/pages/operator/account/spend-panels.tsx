import { ShareBar } from "../../../components/chart/share-bar.tsx";
import { TimeChart } from "../../../components/chart/time-chart.tsx";
import { Loaded } from "../../../components/feedback/loaded.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { DayZoneNote } from "../../../components/period/period-picker.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { formatCount, formatShare, formatUsdAxis } from "../../../format/figures.ts";
import { useTimeZone } from "../../../format/moments.ts";
import { formatUsd, usdPlaces } from "../../../format/money.ts";
import { useApi } from "../../../queries.ts";
import type { Details } from "./limits.ts";
import classes from "./page.module.css";

/** Of the last 30 days, in the reader's time zone. */
export function SpendChart({ details }: { readonly details: Details }) {
  const time_zone = useTimeZone();
  const usage = useApi("GET /api/accounts/:account/usage", {
    params: { account: details.id },
    query: { range: "30d", time_zone, compare: "none" },
  });
  return (
    <Panel title="Spend by day" about="Last 30 days.">
      <Loaded from={usage} lines={5} label="Loading spend">
        {({ points, time_zone: zone }) => (
          <>
            <DayZoneNote zone={zone} shown={time_zone} />
            <TimeChart
              title="Spend by day"
              points={points.map(({ start, charged_usd }) => ({
                at: start,
                values: { charged: Number(charged_usd) },
              }))}
              series={[{ key: "charged", label: "Charged" }]}
              format={(value) => formatUsd(value.toFixed(9))}
              formatAxis={formatUsdAxis}
              height={180}
              zone={zone}
            />
          </>
        )}
      </Loaded>
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
  const places = usdPlaces(rows.map(({ charged_usd }) => charged_usd));
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
    {
      header: "Charged",
      isFigure: true,
      cell: ({ charged_usd }) => <Money usd={charged_usd} places={places} />,
    },
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
