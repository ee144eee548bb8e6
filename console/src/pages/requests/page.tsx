import { Button } from "@mantine/core";
import { IconDownload, IconFilter2, IconList } from "@tabler/icons-react";
import { useState } from "react";
import { fetchFile } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { LiveSign } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { saveFile } from "../../format/save-file.ts";
import { useSearchText } from "../../search.ts";
import { useAccountId } from "../../session.tsx";
import { requestColumns } from "./columns.tsx";
import type { Option } from "./filter-bar.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type Filters, filterNames, toFilters, toQuery } from "./filters.ts";
import classes from "./page.module.css";
import { useChoices } from "./use-choices.ts";
import { useRequests } from "./use-requests.ts";

export function Page() {
  const account = useAccountId();
  // Nothing of one account is shown, not even for a moment, as that of another.
  return <Requests key={account ?? ""} account={account} />;
}

function Requests({ account }: { readonly account: string | undefined }) {
  const [search, setSearch] = useSearchText();
  const [clears, setClears] = useState(0);
  const filters = toFilters(search, account === undefined);
  const choices = useChoices(account, filters.account);
  const { pages, live, rows, isFresh, waiting, showWaiting } = useRequests(account, filters);
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const clear = () => {
    setSearch(Object.fromEntries(filterNames.map((name) => [name, undefined])));
    setClears(clears + 1);
  };
  const columns = requestColumns({
    account,
    isFresh,
    keyName: (id) => labelOf(choices.keys, id) ?? "temporary",
    accountName: (id) => labelOf(choices.accounts, id) ?? id,
  });
  return (
    <>
      <PageHeader
        title="Requests"
        mark={<LiveSign state={live} />}
        about={
          account === undefined
            ? "All admitted calls from all accounts, newest first."
            : "All admitted calls, newest first."
        }
        actions={<CsvButton account={account} filters={filters} />}
      />
      <FilterBar
        key={clears}
        filters={filters}
        choices={choices}
        onChange={(change) => setSearch(toSearch(change))}
        onClear={clear}
      />
      <ErrorNotice problem={pages.error} onRetry={() => pages.refetch()} />
      {pages.isPending && <Loading lines={10} label="Loading requests" />}
      {waiting > 0 && (
        <div className={classes.chip}>
          <Button size="compact-sm" radius="xl" onClick={showWaiting}>
            {formatCount(waiting)} new {waiting === 1 ? "request" : "requests"}
          </Button>
        </div>
      )}
      {pages.isSuccess && rows.length === 0 && !pages.hasNextPage && (
        <NoRequests isFiltered={isFiltered} onClear={clear} />
      )}
      {rows.length > 0 && (
        <Panel isFlush>
          <DataTable
            caption="Requests, newest first"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            isLinked
          />
        </Panel>
      )}
      {pages.hasNextPage && (
        <Button
          mt="md"
          variant="default"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </>
  );
}

const labelOf = (options: readonly Option[], wanted: string) =>
  options.find(({ value }) => value === wanted)?.label;

/** What is not asked for is not in the address. */
const toSearch = (change: Partial<Filters>) =>
  Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, value === "" ? undefined : value]),
  );

function CsvButton(props: { readonly account: string | undefined; readonly filters: Filters }) {
  const { account, filters } = props;
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    const query = toQuery(filters);
    setBusy(true);
    try {
      const file =
        account === undefined
          ? await fetchFile("GET /api/requests.csv", { query })
          : await fetchFile("GET /api/accounts/:account/requests.csv", {
              params: { account },
              query,
            });
      saveFile(file, "requests.csv");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "bad");
    }
    setBusy(false);
  };
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={isBusy}
      onClick={() => void save()}
    >
      Export CSV
    </Button>
  );
}

function NoRequests(props: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  const { isFiltered, onClear } = props;
  return isFiltered ? (
    <EmptyState
      icon={IconFilter2}
      title="No matches"
      about="Change the filters. New matching requests appear here as they finish."
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={IconList}
      title="No requests yet"
      about="Calls appear here as soon as they finish. The overview shows how to make the first one."
    />
  );
}
