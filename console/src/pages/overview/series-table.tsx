import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { formatCount, formatShare } from "../../format/figures.ts";
import { usdPlaces } from "../../format/money.ts";
import { AboutTime } from "./tiles.tsx";
import { failureRate, type Group, type GroupedUsage, type Sums } from "./usage.ts";

type Row = GroupedUsage["all"][number];

const headers = { model: "Model", key: "Key", account: "Account" } as const;

const figureColumns = (places: number): readonly Column<{ readonly totals: Sums }>[] => [
  {
    header: "Spend",
    isFigure: true,
    cell: ({ totals }) => <Money usd={totals.charged_usd} places={places} />,
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
  { header: "Rejected", isFigure: true, cell: ({ totals }) => formatCount(totals.rejected) },
  { header: "Input", isFigure: true, cell: ({ totals }) => formatCount(totals.input_tokens) },
  { header: "Output", isFigure: true, cell: ({ totals }) => formatCount(totals.output_tokens) },
  {
    header: "Latency p50 / p95",
    isFigure: true,
    cell: ({ totals }) => <Percentiles p50={totals.latency_p50_ms} p95={totals.latency_p95_ms} />,
  },
  {
    header: "First token p50 / p95",
    isFigure: true,
    cell: ({ totals }) => (
      <Percentiles p50={totals.first_byte_p50_ms} p95={totals.first_byte_p95_ms} />
    ),
  },
];

interface PercentilesProps {
  readonly p50: number | null;
  readonly p95: number | null;
}

const Percentiles = ({ p50, p95 }: PercentilesProps) =>
  p50 === null && p95 === null ? (
    "–"
  ) : (
    <span className="nowrap">
      <AboutTime ms={p50} /> / <AboutTime ms={p95} />
    </span>
  );

/** All figures of each of them, and of all together. */
export function SeriesTable({ usage }: { readonly usage: GroupedUsage }) {
  const { by } = usage;
  const columns: readonly Column<Row>[] = [
    { header: headers[by], cell: (row) => <Name row={row} by={by} /> },
    ...figureColumns(usdPlaces(usage.all.map(({ totals }) => totals.charged_usd))),
  ];
  const together: Row = { name: "", label: "Total", totals: usage.totals };
  const rows = usage.all.length > 1 ? [...usage.all, together] : usage.all;
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
  if (name === "others" || name === "temporary" || name === "unknown") return label;
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
    <Link to="." search={narrowed}>
      {label}
    </Link>
  );
}
