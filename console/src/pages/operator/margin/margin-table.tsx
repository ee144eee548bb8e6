import { ShareBar } from "../../../components/chart/share-bar.tsx";
import { Money } from "../../../components/money/money.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { formatCount } from "../../../format/figures.ts";
import { usdPlaces } from "../../../format/money.ts";
import { type Group, groups, type Margin, type MarginRow, percentWords } from "./margin.ts";
import classes from "./page.module.css";

export function MarginTable({ margin, by }: { readonly margin: Margin; readonly by: Group }) {
  const label = groups.find(({ value }) => value === by)?.label ?? "Name";
  const { rows, total } = margin;
  const places = usdPlaces(rows.map(({ charged_usd }) => charged_usd));
  const amount = (usd: string | null) =>
    usd === null ? <Unknown /> : <Money usd={usd} places={places} />;
  const columns: readonly Column<MarginRow>[] = [
    {
      header: label,
      cell: (row) =>
        row === total ? <strong>Total</strong> : <span className="anywhere">{row.name}</span>,
    },
    { header: "Requests", isFigure: true, cell: ({ receipts }) => formatCount(receipts) },
    { header: "Charged", isFigure: true, cell: (row) => amount(row.charged_usd) },
    { header: "Vendor cost", isFigure: true, cell: (row) => amount(row.vendor_cost_usd) },
    { header: "Margin", isFigure: true, cell: (row) => amount(row.margin_usd) },
    { header: "Margin %", isFigure: true, cell: (row) => <Percent row={row} /> },
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
            <Money usd={usd} places={places} />
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

const Unknown = () => <span className="soft">Unknown</span>;

function Percent({ row }: { readonly row: MarginRow }) {
  const { margin_percent: percent } = row;
  if (percent === null) return row.vendor_cost_usd === null ? <Unknown /> : "–";
  const share = Number(percent);
  return (
    <div className={classes.percent}>
      <ShareBar share={share / 100} width={64} />
      <span>{percentWords(percent)}</span>
    </div>
  );
}
