import { sumUsd } from "../../../../src/base/money.ts";
import { ShareBar } from "../../components/chart/share-bar.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { formatCount, formatShare } from "../../format/figures.ts";
import { usdPlaces } from "../../format/money.ts";
import { type Billing, monthWords } from "./billing.ts";
import classes from "./page.module.css";

type Row = Billing["spend"]["by_model"][number];

const shownRows = 6;

/** Which models the month's money went to. */
export function SpendPanel({ spend }: { readonly spend: Billing["spend"] }) {
  const total = Number(spend.charged_usd);
  const places = usdPlaces(spend.by_model.map(({ charged_usd }) => charged_usd));
  const shareOf = ({ charged_usd }: Row) => (total === 0 ? 0 : Number(charged_usd) / total);
  return (
    <Panel title="Spend by model" about={`In ${monthWords(spend.month)}.`}>
      {spend.by_model.length === 0 ? (
        <p className="soft small">No calls this month yet.</p>
      ) : (
        <ul className={classes.bars}>
          {fewRows(spend.by_model).map((row) => (
            <li key={row.model}>
              <span className={classes.barName}>{row.model}</span>
              <span className={classes.barFigures}>
                <Money usd={row.charged_usd} places={places} />
                <small>
                  {formatShare(shareOf(row))} · {formatCount(row.receipts)}{" "}
                  {row.receipts === 1 ? "request" : "requests"}
                </small>
              </span>
              <ShareBar share={shareOf(row)} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The rest of them is one row. */
function fewRows(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= shownRows) return rows;
  const rest = rows.slice(shownRows - 1);
  return [
    ...rows.slice(0, shownRows - 1),
    {
      model: `${rest.length} others`,
      receipts: rest.reduce((sum, { receipts }) => sum + receipts, 0),
      charged_usd: sumUsd(rest.map(({ charged_usd }) => charged_usd)),
    },
  ];
}
