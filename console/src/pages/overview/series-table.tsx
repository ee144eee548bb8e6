import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { formatCount, formatShare } from "../../format/figures.ts";
import { AboutTime } from "./tiles.tsx";
import { failureRate, type Group, type GroupedUsage, type Sums } from "./usage.ts";

type Row = GroupedUsage["series"][number];

const headers = { model: "Model", key: "Key", account: "Account" } as const;

const figureColumns: readonly Column<{ readonly totals: Sums }>[] = [
  {
    header: "Spend",
    isFigure: true,
    cell: ({ totals }) => <Money usd={totals.charged_usd} />,
  },
  { header: "Requests", isFigure: true, cell: ({ totals }) => formatCount(totals.requests) },
  {
    header: "Errors",
    isFigure: true,
    cell: ({ totals }) =>
      totals.failures === 0
        ? "0"
        : `${formatCount(totals.failures)} (${formatShare(failureRate(totals))})`,
  },
  { header: "Input", isFigure: true, cell: ({ totals }) => formatCount(totals.input_tokens) },
  { header: "Output", isFigure: true, cell: ({ totals }) => formatCount(totals.output_tokens) },
  {
    header: "Latency p50 / p95",
    isFigure: true,
    cell: ({ totals }) => (
      <span className="nowrap">
        <AboutTime ms={totals.latency_p50_ms} /> / <AboutTime ms={totals.latency_p95_ms} />
      </span>
    ),
  },
  {
    header: "First token p50 / p95, streamed replies",
    isFigure: true,
    cell: ({ totals }) => (
      <span className="nowrap">
        <AboutTime ms={totals.first_byte_p50_ms} /> / <AboutTime ms={totals.first_byte_p95_ms} />
      </span>
    ),
  },
];

/** All figures of each of them, and of all together. */
export function SeriesTable({ usage }: { readonly usage: GroupedUsage }) {
  const { by } = usage;
  const columns: readonly Column<Row>[] = [
    { header: headers[by], cell: (row) => <Name row={row} by={by} /> },
    ...figureColumns,
  ];
  const together: Row = { name: "", label: "Total", totals: usage.totals, points: [] };
  const rows = usage.series.length > 1 ? [...usage.series, together] : usage.series;
  return (
    <Panel title={`All metrics by ${by}`} isFlush>
      <DataTable
        caption={`All metrics by ${by}`}
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name}
      />
    </Panel>
  );
}

/** Narrows the page to one of them, or leads to the account. */
function Name({ row, by }: { readonly row: Row; readonly by: Group }): ReactNode {
  const { name, label } = row;
  if (name === "") return <strong>{label}</strong>;
  if (name === "others" || name === "temporary") return label;
  if (by === "account")
    return (
      <Link to="/a/$account/overview" params={{ account: name }}>
        {label}
      </Link>
    );
  const other = by === "model" ? "key" : "model";
  const narrowed = (old: Readonly<Record<string, string | undefined>>) => ({
    ...old,
    [by]: name,
    by: other,
  });
  return (
    <Link to="." search={narrowed} resetScroll={false}>
      {label}
    </Link>
  );
}
