import { Facts } from "../../components/layout/facts.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { Money } from "../../components/money/money.tsx";
import { formatCount } from "../../format/figures.ts";
import { formatDay } from "../../format/moments.ts";
import { type Billing, monthWords } from "./billing.ts";
import classes from "./page.module.css";

/** The projected cost of the month, its basis, and how long the balance lasts. */
export function ForecastPanel({ billing }: { readonly billing: Billing }) {
  const { forecast_usd: forecast, forecast_basis: basis, runs_out_at: end, spend } = billing;
  return (
    <Panel title="Forecast" about="Linear projection. Actual spend may vary.">
      <Facts
        of={{
          [`Projected for ${monthWords(spend.month)}`]:
            forecast === null ? "Not available yet" : <Money usd={forecast} />,
          "Balance lasts until": <End end={end} isKnown={forecast !== null} />,
        }}
      />
      <p className={`soft small ${classes.basis}`}>{basis}</p>
    </Panel>
  );
}

function End({ end, isKnown }: { readonly end: string | null; readonly isKnown: boolean }) {
  if (!isKnown) return <>Not available yet</>;
  if (end === null) return <>Beyond the forecast</>;
  if (Date.parse(end) <= Date.now()) return <>Used up</>;
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
