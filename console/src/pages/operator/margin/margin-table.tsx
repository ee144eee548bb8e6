import { ShareBar } from "../../../components/chart/share-bar.tsx";
import { Money } from "../../../components/money/money.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { formatCount } from "../../../format/figures.ts";
import { type Group, groups, type Margin, type MarginRow } from "./margin.ts";
import classes from "./page.module.css";

export function MarginTable({ margin, by }: { readonly margin: Margin; readonly by: Group }) {
  const label = groups.find(({ value }) => value === by)?.label ?? "Name";
  const { rows, total } = margin;
  const columns: readonly Column<MarginRow>[] = [
    {
      header: label,
      cell: (row) =>
        row === total ? <strong>Total</strong> : <span className="anywhere">{row.name}</span>,
    },
    { header: "Requests", isFigure: true, cell: ({ receipts }) => formatCount(receipts) },
    { header: "Charged", isFigure: true, cell: ({ charged_usd }) => <Money usd={charged_usd} /> },
    {
      header: "Vendor cost",
      isFigure: true,
      cell: ({ vendor_cost_usd }) => <Money usd={vendor_cost_usd} />,
    },
    { header: "Margin", isFigure: true, cell: ({ margin_usd }) => <Money usd={margin_usd} /> },
    { header: "% of charges", isFigure: true, cell: (row) => <Percent row={row} /> },
    {
      header: "Cost unknown",
      isFigure: true,
      cell: ({ unknown_cost: count }) =>
        count === 0 ? (
          "–"
        ) : (
          <span className={classes.warn}>
            {formatCount(count)} {count === 1 ? "request" : "requests"}
          </span>
        ),
    },
    {
      header: "Shortfall",
      isFigure: true,
      cell: ({ shortfall_usd: usd }) =>
        Number(usd) === 0 ? (
          "–"
        ) : (
          <span className={classes.warn}>
            <Money usd={usd} />
          </span>
        ),
    },
  ];
  return (
    <DataTable
      caption={`Margin by ${label.toLowerCase()}`}
      columns={columns}
      rows={[...rows, total]}
      rowKey={(row) => (row === total ? " total" : row.name)}
    />
  );
}

function Percent({ row }: { readonly row: MarginRow }) {
  const { margin_percent: percent } = row;
  if (percent === null) return <span className="soft">Unknown</span>;
  const share = Number(percent);
  return (
    <div className={classes.percent}>
      <ShareBar share={share / 100} width={64} />
      <span>{percent.replace("-", "−")}%</span>
    </div>
  );
}
