import { Button, Group } from "@mantine/core";
import { IconArrowRight, IconPlus } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Money } from "../../../components/money/money.tsx";
import { BehindNote } from "../../../components/period/behind-note.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useTimeZone } from "../../../format/moments.ts";
import { useApi, useChange } from "../../../queries.ts";
import { useOpened } from "../../../search.ts";
import { KeysPanel, MembersPanel } from "./belongings.tsx";
import { AddCredit } from "./entry-dialog.tsx";
import type { Details } from "./limits.ts";
import { LimitsPanel } from "./limits-panel.tsx";
import classes from "./page.module.css";
import { RetentionPanel } from "./retention-panel.tsx";
import { SpendByKey, SpendByModel, SpendChart } from "./spend-panels.tsx";

const everyMs = 30_000;

export function Page() {
  const { id = "" } = useParams({ strict: false });
  const details = useApi(
    "GET /api/accounts/:account/details",
    { params: { account: id } },
    { everyMs },
  );
  const back = <Link to="/operator/accounts">All accounts</Link>;
  if (details.data !== undefined) return <Account details={details.data} />;
  return (
    <>
      <PageHeader title="Account" about="Balance, limits and state of one account." back={back} />
      <ErrorNotice problem={details.error} onRetry={() => details.refetch()} />
      {details.isPending && <Loading lines={8} label="Loading account" />}
    </>
  );
}

function Account({ details }: { readonly details: Details }) {
  const [isAdding, setAdding] = useOpened("credit");
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
            <CopyButton text={details.id} what="the account ID" />
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
              {" "}
              Open account{" "}
            </Button>
            <StateButton details={details} />
            <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
              {" "}
              Add credit{" "}
            </Button>
          </>
        }
      />
      {isSuspended && (
        <p className="notice below" role="status">
          All calls from this account are rejected with 402 account_suspended until you resume it.
        </p>
      )}
      <BehindNote sums={details} />
      <Figures details={details} />
      <SpendChart details={details} />
      <div className={classes.columns}>
        <div>
          <LimitsPanel account={details} />
          <RetentionPanel account={details} />
          <SpendByModel details={details} />
          <MembersPanel details={details} />
        </div>
        <div>
          <KeysPanel details={details} />
          <SpendByKey details={details} />
        </div>
      </div>
      <Dialog of={isAdding} onClose={() => setAdding(false)}>
        {() => <AddCredit account={details} />}
      </Dialog>
    </>
  );
}

function Figures({ details }: { readonly details: Details }) {
  const time_zone = useTimeZone();
  const params = { account: details.id };
  const billing = useApi(
    "GET /api/accounts/:account/billing",
    { params, query: { time_zone } },
    { everyMs },
  );
  const spend = billing.data?.spend;
  const hasShortfall = Number(details.shortfall_usd) > 0;
  return (
    <Tiles>
      <StatTile
        label="Balance"
        value={<Money usd={details.balance_usd} digits="balance" />}
        note={
          <Link to="/a/$account/billing" params={{ account: details.id }}>
            {" "}
            View ledger{" "}
          </Link>
        }
      />
      <StatTile
        label="Held"
        value={<Money usd={details.held_usd} digits="balance" />}
        note="For calls in flight"
      />
      <StatTile
        label="Available"
        value={<Money usd={details.free_usd} digits="balance" />}
        note="For new calls"
      />
      <StatTile
        label="Spent this month"
        value={spend === undefined ? "…" : <Money usd={spend.charged_usd} />}
        note={spend === undefined ? "" : requestWords(spend.receipts)}
      />
      {hasShortfall && (
        <StatTile
          label="Shortfall"
          value={<Money usd={details.shortfall_usd} />}
          note="Cost beyond holds, not charged"
        />
      )}
    </Tiles>
  );
}

const requestWords = (count: number) =>
  `${formatCount(count)} ${count === 1 ? "request" : "requests"}`;

function StateButton({ details }: { readonly details: Details }) {
  const { id, name } = details;
  const params = { account: id };
  const resume = useChange("POST /api/accounts/:account/resume", {
    onDone: () => say(`Resumed ${name}.`),
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
      consequence="Every new call with its keys is rejected. Calls in flight finish and are charged. Members can still sign in. You can resume the account at any time."
      verb="Suspend"
      route="POST /api/accounts/:account/suspend"
      input={{ params }}
      onDone={() => say(`Suspended ${name}.`)}
    >
      Suspend
    </ConfirmButton>
  );
}
