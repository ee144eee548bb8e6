import { Link } from "@tanstack/react-router";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { BalanceNotice, standingRoute } from "../../components/money/balance-notice.tsx";
import { BudgetBar } from "../../components/money/budget-bar.tsx";
import { Money } from "../../components/money/money.tsx";
import { BehindNote } from "../../components/period/behind-note.tsx";
import { StatTile, Tiles } from "../../components/table/stat-tile.tsx";
import { formatCount } from "../../format/figures.ts";
import { useTimeZone } from "../../format/moments.ts";
import { useApi } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useAccount, useMay } from "../../session.tsx";
import { type Billing, monthWords } from "./billing.ts";
import { ForecastPanel } from "./forecast-panel.tsx";
import { LedgerPanel } from "./ledger-panel.tsx";
import classes from "./page.module.css";
import { SpendPanel } from "./spend-panel.tsx";

export function Page() {
  const { id: account } = useAccount();
  const [search, setSearch] = useSearchText();
  const { month } = search;
  const time_zone = useTimeZone();
  const billing = useApi(
    "GET /api/accounts/:account/billing",
    { params: { account }, query: { time_zone, ...(month === undefined ? {} : { month }) } },
    { keepsOld: true, everyMs: 30_000 },
  );
  const { data } = billing;
  return (
    <>
      <PageHeader title="Billing" about="Balance, spend and forecast." />
      <ErrorNotice problem={billing.error} onRetry={() => billing.refetch()} />
      {billing.isPending && <Loading lines={8} label="Loading billing" />}
      {data !== undefined && (
        <>
          <LastDay account={data.account} />
          <BehindNote sums={data} />
          <Figures billing={data} />
          <Budget account={data.account} />
          <div className={classes.columns}>
            <div>
              <SpendPanel spend={data.spend} />
            </div>
            <div>
              <ForecastPanel billing={data} />
            </div>
          </div>
          <LedgerPanel
            ledger={data.ledger}
            zone={data.time_zone}
            onMonth={(month) => setSearch({ month })}
          />
          <WhoAddsMoney account={account} />
        </>
      )}
    </>
  );
}

function Figures({ billing }: { readonly billing: Billing }) {
  const { spend, forecast_usd: forecast } = billing;
  return (
    <Tiles>
      <StatTile
        label="Balance"
        value={<Money usd={billing.balance_usd} digits="balance" />}
        note="Including held money"
      />
      <StatTile
        label="Held"
        value={<Money usd={billing.held_usd} digits="balance" />}
        note="For calls in flight"
      />
      <StatTile
        label="Available"
        value={<Money usd={billing.free_usd} digits="balance" />}
        note="For new calls"
      />
      <StatTile
        label={`Spent in ${monthWords(spend.month)}`}
        value={<Money usd={spend.charged_usd} />}
        note={`${formatCount(spend.receipts)} ${spend.receipts === 1 ? "request" : "requests"}`}
      />
      <StatTile
        label="Forecast"
        value={forecast === null ? "—" : <Money usd={forecast} />}
        note={forecast === null ? "Not available yet" : "For the whole month"}
      />
    </Tiles>
  );
}

/** Seen before it is used up. */
function Budget({ account }: { readonly account: string }) {
  const standing = useApi(standingRoute, { params: { account } }, { everyMs: 30_000 });
  const budget = standing.data?.budget ?? null;
  if (budget === null) return null;
  return (
    <Panel title="Budget">
      <BudgetBar budget={budget} />
    </Panel>
  );
}

function WhoAddsMoney({ account }: { readonly account: string }) {
  const isOperator = useMay("operator");
  return (
    <p className={classes.foot}>
      {isOperator ? (
        <>
          To add credit, issue a refund or set a budget, open{" "}
          <Link to="/operator/accounts/$id" params={{ id: account }}>
            this account's operator page
          </Link>
          .
        </>
      ) : (
        "The operator of this platform adds credit and issues refunds. When the balance is used up, calls are rejected with 402."
      )}
    </p>
  );
}

function LastDay({ account }: { readonly account: string }) {
  const day = useApi("GET /api/accounts/:account/usage", {
    params: { account },
    query: { range: "24h", by: "model" },
  });
  return <BalanceNotice account={account} daySpendUsd={day.data?.totals.charged_usd} />;
}
