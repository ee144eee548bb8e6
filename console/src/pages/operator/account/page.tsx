import { Button, Group } from "@mantine/core";
import { IconArrowRight, IconPlus } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { sumUsd } from "../../../../../src/base/money.ts";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Money } from "../../../components/money/money.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi, useChange } from "../../../queries.ts";
import { KeysPanel, MembersPanel } from "./belongings.tsx";
import { BookMoney } from "./entry-dialog.tsx";
import type { Details } from "./limits.ts";
import { LimitsPanel } from "./limits-panel.tsx";
import classes from "./page.module.css";
import { SpendByKey, SpendByModel, SpendChart } from "./spend-panels.tsx";

export function Page() {
  const { id = "" } = useParams({ strict: false });
  const details = useApi("GET /api/accounts/:account/details", { params: { account: id } });
  const back = <Link to="/operator/accounts">All accounts</Link>;
  if (details.data !== undefined) return <Account details={details.data} />;
  return (
    <>
      <PageHeader title="Account" about="Balance, limits and state of one account." back={back} />
      <ErrorNotice problem={details.error} onRetry={() => details.refetch()} />
      {details.isPending && <Loading lines={8} label="Loading the account" />}
    </>
  );
}

function Account({ details }: { readonly details: Details }) {
  const [isBooking, setBooking] = useState(false);
  const isSuspended = details.status === "suspended";
  return (
    <>
      <PageHeader
        title={details.name}
        mark={<StateBadge state={details.status} />}
        back={<Link to="/operator/accounts">All accounts</Link>}
        about={
          <Group gap={4} component="span" wrap="nowrap">
            <code className="soft small anywhere">{details.id}</code>
            <CopyButton text={details.id} what="the account's id" />
          </Group>
        }
        actions={
          <>
            <Button
              variant="default"
              leftSection={<IconArrowRight size={16} />}
              renderRoot={(props) => (
                <Link to="/a/$account/overview" params={{ account: details.id }} {...props} />
              )}
            >
              See its pages
            </Button>
            <StateButton details={details} />
            <Button leftSection={<IconPlus size={16} />} onClick={() => setBooking(true)}>
              Book money
            </Button>
          </>
        }
      />
      {isSuspended && (
        <p className="notice below" role="status">
          All calls of this account are refused with 402 account_suspended until it is resumed.
        </p>
      )}
      <Figures details={details} />
      <SpendChart details={details} />
      <div className={classes.columns}>
        <div>
          <LimitsPanel account={details} />
          <SpendByModel details={details} />
          <MembersPanel details={details} />
        </div>
        <div>
          <KeysPanel details={details} />
          <SpendByKey details={details} />
        </div>
      </div>
      <Dialog of={isBooking} onClose={() => setBooking(false)}>
        {() => <BookMoney account={details} />}
      </Dialog>
    </>
  );
}

function Figures({ details }: { readonly details: Details }) {
  const month = new Date().toISOString().slice(0, 7);
  const days = details.by_day.filter(({ day }) => day.startsWith(month));
  const requests = days.reduce((sum, { receipts }) => sum + receipts, 0);
  const hasShortfall = Number(details.shortfall_usd) > 0;
  return (
    <Tiles>
      <StatTile
        label="Balance"
        value={<Money usd={details.balance_usd} />}
        note={
          <Link to="/a/$account/billing" params={{ account: details.id }}>
            Its ledger
          </Link>
        }
      />
      <StatTile label="Held" value={<Money usd={details.held_usd} />} note="for calls under way" />
      <StatTile label="Free" value={<Money usd={details.free_usd} />} note="for new calls" />
      <StatTile
        label="Spent this month"
        value={<Money usd={sumUsd(days.map(({ charged_usd }) => charged_usd))} />}
        note={`${formatCount(requests)} requests`}
      />
      {hasShortfall && (
        <StatTile
          label="Shortfall"
          value={<Money usd={details.shortfall_usd} />}
          note="cost beyond what it had"
        />
      )}
    </Tiles>
  );
}

function StateButton({ details }: { readonly details: Details }) {
  const { id, name } = details;
  const params = { account: id };
  const resume = useChange("POST /api/accounts/:account/resume", {
    onDone: () => say(`${name} can call again.`),
  });
  if (details.status === "suspended")
    return (
      <Button
        variant="default"
        loading={resume.isPending}
        onClick={() => resume.mutate({ params })}
      >
        Resume
      </Button>
    );
  return (
    <ConfirmButton
      question={`Suspend ${name}?`}
      consequence="From now on every call with one of its keys is refused. Calls under way go on to their end and are charged. Its money, its keys and its members stay as they are, and members can still sign in. You can resume it at any time."
      verb="Suspend"
      route="POST /api/accounts/:account/suspend"
      input={{ params }}
      onDone={() => say(`${name} is suspended.`)}
    >
      Suspend
    </ConfirmButton>
  );
}
