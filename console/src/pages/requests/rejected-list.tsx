import { Button } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { useSearchText } from "../../search.ts";
import { Time } from "./columns.tsx";
import type { Filters } from "./filters.ts";
import classes from "./page.module.css";
import { keyLabel, ReasonBadge, RejectedCall } from "./rejected-call.tsx";
import { type Rejection, useRejections } from "./rejections.ts";
import { RejectedTotal } from "./totals.tsx";

interface RejectedListProps {
  readonly account: string | undefined;
  readonly filters: Filters;
  readonly accountName: (id: string) => string;
}

/** Calls that were refused before admission: they have no receipt and cost nothing. */
export function RejectedList({ account, filters, accountName }: RejectedListProps) {
  const [search, setSearch] = useSearchText();
  const found = useRejections({ account, filters, enabled: true });
  const rows = found.data ?? [];
  return (
    <>
      <RejectedTotal account={account} filters={filters} />
      <ErrorNotice problem={found.error} onRetry={() => found.refetch()} />
      {found.isPending && <Loading lines={8} label="Loading rejected calls" />}
      {found.isSuccess && rows.length === 0 && (
        <EmptyState
          icon={IconShieldCheck}
          title="No rejected calls"
          about="Calls that are rejected before admission appear here for 30 days."
        />
      )}
      {rows.length > 0 && (
        <Panel isFlush>
          <DataTable
            caption="Rejected calls, newest first"
            columns={columnsOf(account === undefined ? accountName : undefined)}
            rows={rows}
            rowKey={({ id }) => id}
            isLinked
            phone="lines"
          />
        </Panel>
      )}
      {found.hasNextPage && (
        <Button
          mt="md"
          variant="default"
          loading={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          Load more
        </Button>
      )}
      <Dialog
        of={rows.find(({ id }) => id === search["call"])}
        onClose={() => setSearch({ call: undefined })}
        size="lg"
      >
        {(call) => <RejectedCall of={call} account={account} />}
      </Dialog>
    </>
  );
}

/** `accountName`: where the operator looks at all accounts. */
function columnsOf(
  accountName: ((id: string) => string) | undefined,
): readonly Column<Rejection>[] {
  const account: Column<Rejection>[] =
    accountName === undefined
      ? []
      : [
          {
            header: "Account",
            width: 112,
            cell: (row) => <span className={classes.name}>{accountName(row.account)}</span>,
          },
        ];
  return [
    {
      header: "Time",
      width: 110,
      place: "top-start",
      cell: (row) => (
        <span className={classes.time}>
          <Link to="." search={(old: object) => ({ ...old, call: row.id })} replace>
            <Time at={row.at} />
          </Link>
        </span>
      ),
    },
    {
      header: "Model",
      width: 136,
      place: "top",
      cell: (row) => (
        <span className={classes.name} data-strong="true" title={row.model ?? undefined}>
          {row.model ?? "–"}
        </span>
      ),
    },
    ...account,
    {
      header: "Key",
      width: 128,
      cell: (row) => (
        <span className={classes.key}>
          {keyLabel(row)}
          {row.key_name !== "" && row.key_hint !== null && <code>{row.key_hint}</code>}
        </span>
      ),
    },
    {
      header: "HTTP",
      width: 68,
      place: "top-end",
      cell: (row) => <StateBadge state="failed" label={String(row.status)} />,
    },
    {
      header: "Reason",
      place: "bottom-start",
      cell: (row) => (
        <div className="lines">
          <span className={classes.reason}>
            <code className="small">{row.code}</code>
            <ReasonBadge reason={row.reason} />
          </span>
          <small className={classes.name}>{row.message}</small>
          {/* On a phone it has no cell of its own. */}
          <small className={classes.more}>
            {accountName !== undefined && `${accountName(row.account)} · `}
            {keyLabel(row)}
          </small>
        </div>
      ),
    },
    {
      header: "Calls",
      width: 76,
      isFigure: true,
      place: "bottom-end",
      cell: ({ count }) => (
        <span
          className={classes.calls}
          data-single={count === 1}
          title={count > 1 ? "The other calls like it in that minute" : undefined}
        >
          {formatCount(count)}
        </span>
      ),
    },
  ];
}
