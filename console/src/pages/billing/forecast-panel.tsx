import { Facts } from "../../components/layout/facts.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { formatCount } from "../../format/figures.ts";
import { formatDay } from "../../format/moments.ts";
import { type Billing, monthWords } from "./billing.ts";
import classes from "./page.module.css";

/** What the month will have cost, how that is worked out, and how long the money lasts. */
export function ForecastPanel({ billing }: { readonly billing: Billing }) {
  const { forecast_usd: forecast, forecast_basis: basis, runs_out_at: end, spend } = billing;
  return (
    <Panel title="Forecast" about="A straight line, and no promise.">
      <Facts
        of={{
          [`${monthWords(spend.month)} will have cost`]:
            forecast === null ? "not known yet" : <Money usd={forecast} />,
          "The balance lasts until": <End end={end} isKnown={forecast !== null} />,
        }}
      />
      <p className={`soft small ${classes.basis}`}>{basis}</p>
    </Panel>
  );
}

function End({ end, isKnown }: { readonly end: string | null; readonly isKnown: boolean }) {
  if (!isKnown) return <>not known yet</>;
  if (end === null) return <>further than can be told</>;
  if (Date.parse(end) <= Date.now()) return <>it is used up</>;
  return (
    <>
      {formatDay(Date.parse(end))}
      <small>{inDays(Date.parse(end) - Date.now())}</small>
    </>
  );
}

function inDays(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  if (days < 1) return "in less than a day";
  return days === 1 ? "in 1 day" : `in ${formatCount(days)} days`;
}
