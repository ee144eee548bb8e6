import { Button } from "@mantine/core";
import { IconFilter2, IconList } from "@tabler/icons-react";
import { useState } from "react";
import { fetchFile } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { type Column, DataTable } from "../../components/table/data-table.tsx";
import { LiveSign } from "../../components/table/state-badge.tsx";
import { SavedViews } from "../../components/views/saved-views.tsx";
import { useTimeZone } from "../../format/moments.ts";
import type { RequestRow } from "../../live/news.ts";
import { useSearchText } from "../../search.ts";
import { useAccountId } from "../../session.tsx";
import { requestColumns } from "./columns.tsx";
import type { Option } from "./filter-bar.tsx";
import { FilterBar } from "./filter-bar.tsx";
import {
  type Filters,
  filterNames,
  nextSorting,
  rejected,
  type Sorting,
  toFilters,
  toQuery,
  toSorting,
} from "./filters.ts";
import { RejectedList } from "./rejected-list.tsx";
import { fetchRejectedCsv, useRefreshRejections } from "./rejections.ts";
import { NewChip, PauseButton, Totals } from "./totals.tsx";
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
  const [isPaused, setPaused] = useState(false);
  // Days in the filters are those of the zone.
  useTimeZone();
  const filters = toFilters(search, account === undefined);
  const sorting = toSorting(search);
  const choices = useChoices(account, filters.account);
  const isRejected = filters.outcome === rejected;
  const onRejections = useRefreshRejections();
  const enabled = !isRejected;
  const list = useRequests({ account, filters, sorting, isPaused, onRejections, enabled });
  const clear = () => {
    setSearch(Object.fromEntries(filterNames.map((name) => [name, undefined])));
    setClears(clears + 1);
  };
  const names = {
    keyName: (id: string) =>
      (choices.keys === "all" ? undefined : labelOf(choices.keys, id)) ?? "Temporary key",
    accountName: (id: string) => labelOf(choices.accounts, id) ?? id,
  };
  const columns = requestColumns({
    account,
    isFresh: list.isFresh,
    sorting,
    onSort: (by) => setSearch(toSortSearch(nextSorting(sorting, by))),
    ...names,
  });
  return (
    <>
      <PageHeader
        title="Requests"
        mark={<LiveSign state={list.live} />}
        about={
          isRejected
            ? "Calls rejected before admission. They cost nothing."
            : aboutOf(account, sorting)
        }
        actions={
          <>
            <SavedViews page="requests" account={account} size="sm" />
            <PauseButton isPaused={isPaused} onChange={setPaused} />
            <CsvButton
              save={() => fetchCsv(account, filters)}
              file={isRejected ? "rejections.csv" : "requests.csv"}
            />
          </>
        }
      />
      <FilterBar
        key={clears}
        filters={filters}
        choices={choices}
        onChange={(change) => setSearch(toSearch(change))}
        onClear={clear}
      />
      {isRejected ? (
        <RejectedList account={account} filters={filters} accountName={names.accountName} />
      ) : (
        <Accepted
          account={account}
          filters={filters}
          sorting={sorting}
          list={list}
          columns={columns}
          onRejected={() => setSearch({ outcome: rejected })}
          onClear={clear}
        />
      )}
    </>
  );
}

function aboutOf(account: string | undefined, { sort, order }: Sorting): string {
  const calls =
    account === undefined ? "Every accepted call from all accounts" : "Every accepted call";
  return `${calls}, ${orderWords[sort][order]}.`;
}

const orderWords = {
  time: { desc: "newest first", asc: "oldest first" },
  cost: { desc: "most expensive first", asc: "least expensive first" },
  duration: { desc: "slowest first", asc: "fastest first" },
} as const satisfies Record<Sorting["sort"], Record<Sorting["order"], string>>;

interface AcceptedProps {
  readonly account: string | undefined;
  readonly filters: Filters;
  readonly sorting: Sorting;
  readonly list: ReturnType<typeof useRequests>;
  readonly columns: readonly Column<RequestRow>[];
  readonly onRejected: () => void;
  readonly onClear: () => void;
}

/** The calls that were admitted. */
function Accepted({
  account,
  filters,
  sorting,
  list,
  columns,
  onRejected,
  onClear,
}: AcceptedProps) {
  const { pages, rows, waiting, showWaiting } = list;
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <>
      <Totals
        account={account}
        filters={filters}
        sorting={sorting}
        newestId={rows[0]?.id}
        onRejected={onRejected}
      />
      <ErrorNotice problem={pages.error} onRetry={() => pages.refetch()} />
      {pages.isPending && <Loading lines={10} label="Loading requests" />}
      <NewChip waiting={waiting} onShow={showWaiting} />
      {pages.isSuccess && rows.length === 0 && !pages.hasNextPage && (
        <NoRequests isFiltered={isFiltered} onClear={onClear} />
      )}
      {rows.length > 0 && (
        <Panel isFlush>
          <DataTable
            caption={`Requests, ${orderWords[sorting.sort][sorting.order]}`}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            isLinked
            phone="lines"
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

const toSortSearch = ({ sort, order }: Sorting) => ({
  sort: sort === "time" ? undefined : sort,
  order: order === "desc" ? undefined : order,
});

const labelOf = (options: readonly Option[], wanted: string) =>
  options.find(({ value }) => value === wanted)?.label;

/** What is not asked for is not in the address. */
const toSearch = (change: Partial<Filters>) =>
  Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, value === "" ? undefined : value]),
  );

function fetchCsv(account: string | undefined, filters: Filters): Promise<Blob> {
  if (filters.outcome === rejected) return fetchRejectedCsv(account, filters);
  const query = toQuery(filters);
  return account === undefined
    ? fetchFile("GET /api/requests.csv", { query })
    : fetchFile("GET /api/accounts/:account/requests.csv", { params: { account }, query });
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
