import { sumUsd } from "../../../../../src/base/money.ts";
import { formatUsd } from "../../../format/money.ts";
import type { MarginRow } from "./margin.ts";
import classes from "./page.module.css";

const shownRows = 8;

/** Charges split into vendor cost and margin, largest first. */
export function MarginBars({ rows }: { readonly rows: readonly MarginRow[] }) {
  const shown = fewRows(rows);
  const widest = Math.max(...shown.map(spanOf), 1e-12);
  return (
    <figure aria-label="Charges and vendor cost, bar chart">
      <ul className={classes.bars}>
        {shown.map((row) => (
          <li key={row.name}>
            <span className={classes.barName}>{row.name}</span>
            <span className={classes.track}>
              <Parts row={row} widest={widest} />
            </span>
            <span className={classes.barFigure}>
              {row.margin_usd === null ? "Unknown" : formatUsd(row.margin_usd)}
            </span>
          </li>
        ))}
      </ul>
      <figcaption className={classes.legend}>
        <span>
          <i className={classes.vendor} /> Vendor cost
        </span>
        <span>
          <i className={classes.margin} /> Margin
        </span>
        <span>
          <i className={classes.loss} /> Vendor cost above charges
        </span>
        <span>
          <i className={classes.unknown} /> Charges with unknown cost
        </span>
      </figcaption>
    </figure>
  );
}

type BarRow = Pick<
  MarginRow,
  "name" | "charged_usd" | "charged_known_usd" | "vendor_cost_usd" | "margin_usd"
>;

function Parts({ row, widest }: { readonly row: BarRow; readonly widest: number }) {
  const charged = Number(row.charged_known_usd);
  const vendor = Number(row.vendor_cost_usd ?? 0);
  const parts = [
    { name: classes.vendor, value: Math.min(vendor, charged) },
    { name: classes.margin, value: charged - vendor },
    { name: classes.loss, value: vendor - charged },
    { name: classes.unknown, value: Number(row.charged_usd) - charged },
  ];
  return parts
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => (
      <span key={name} className={name} style={{ width: `${(value / widest) * 100}%` }} />
    ));
}

function spanOf(row: BarRow): number {
  const known = Number(row.charged_known_usd);
  return Math.max(known, Number(row.vendor_cost_usd ?? 0)) + Number(row.charged_usd) - known;
}

/** The rest of them is one row. */
function fewRows(rows: readonly MarginRow[]): readonly BarRow[] {
  if (rows.length <= shownRows) return rows;
  const rest = rows.slice(shownRows - 1);
  const sum = (name: "charged_usd" | "charged_known_usd") => sumUsd(rest.map((row) => row[name]));
  const sumKnown = (name: "vendor_cost_usd" | "margin_usd") => {
    const known = rest.flatMap((row) => row[name] ?? []);
    return known.length === 0 ? null : sumUsd(known);
  };
  return [
    ...rows.slice(0, shownRows - 1),
    {
      name: `${rest.length} others`,
      charged_usd: sum("charged_usd"),
      charged_known_usd: sum("charged_known_usd"),
      vendor_cost_usd: sumKnown("vendor_cost_usd"),
      margin_usd: sumKnown("margin_usd"),
    },
  ];
}
