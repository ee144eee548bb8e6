import { Button } from "@mantine/core";
import { IconBuilding, IconPlus } from "@tabler/icons-react";
import { sumUsd } from "../../../../../src/base/money.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi } from "../../../queries.ts";
import { useOpened, useSearchText } from "../../../search.ts";
import { type Account, AccountsTable } from "./accounts-table.tsx";
import { CreateAccount } from "./create-dialog.tsx";

export function Page() {
  const [search] = useSearchText();
  const [isCreating, setCreating] = useOpened("new");
  // The list is there at once; what each has spent takes reading.
  const plain = useApi("GET /api/accounts", {});
  const withSpend = useApi("GET /api/accounts", { query: { spend: "month" } });
  const accounts = withSpend.data ?? plain.data;
  const wanted = (search["find"] ?? "").trim().toLowerCase();
  const shown = (accounts ?? []).filter(({ name, id }) =>
    `${name} ${id}`.toLowerCase().includes(wanted),
  );
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {" "}
      Create account{" "}
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Accounts"
        about="Each account has its own balance, keys and members."
        actions={create}
      />
      <ErrorNotice
        problem={plain.error ?? withSpend.error}
        onRetry={() => Promise.all([plain.refetch(), withSpend.refetch()])}
      />
      {accounts === undefined && plain.isPending && <Loading lines={6} label="Loading accounts" />}
      {accounts !== undefined && accounts.length === 0 && (
        <Panel>
          <EmptyState
            icon={IconBuilding}
            title="No accounts yet"
            about="Create one with initial credit, then send its owner the invitation link."
            action={create}
          />
        </Panel>
      )}
      {accounts !== undefined && accounts.length > 0 && (
        <>
          <Summary accounts={accounts} />
          <Panel
            title="Balances and limits"
            actions={<FindInput label="Search accounts" placeholder="Name or ID" />}
            isFlush
          >
            <AccountsTable accounts={shown} />
          </Panel>
        </>
      )}
      <Dialog of={isCreating} onClose={() => setCreating(false)} size="lg">
        {() => <CreateAccount />}
      </Dialog>
    </>
  );
}

const activeWords = (count: number) => `${formatCount(count)} active`;

function Summary({ accounts }: { readonly accounts: readonly Account[] }) {
  const suspended = accounts.filter(({ status }) => status === "suspended").length;
  const empty = accounts.filter(({ balance_usd }) => Number(balance_usd) <= 0).length;
  const spent = accounts.flatMap(({ spent_month_usd }) => spent_month_usd ?? []);
  return (
    <Tiles>
      <StatTile
        label="Accounts"
        value={formatCount(accounts.length)}
        note={suspended === 0 ? "None suspended" : `${suspended} suspended`}
      />
      <StatTile
        label="Total balance"
        value={
          <Money usd={sumUsd(accounts.map(({ balance_usd }) => balance_usd))} digits="balance" />
        }
        note={empty === 0 ? "All funded" : `${empty} without credit`}
      />
      <StatTile
        label="Spent this month (UTC)"
        value={spent.length === 0 ? "…" : <Money usd={sumUsd(spent)} />}
        note={
          spent.length === 0
            ? undefined
            : activeWords(spent.filter((usd) => Number(usd) > 0).length)
        }
      />
    </Tiles>
  );
}
