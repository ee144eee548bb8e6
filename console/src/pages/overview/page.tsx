import { Button, SegmentedControl } from "@mantine/core";
import { useThrottledCallback } from "@mantine/hooks";
import { IconX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { BalanceNotice, standingRoute } from "../../components/money/balance-notice.tsx";
import { BehindNote } from "../../components/period/behind-note.tsx";
import { DayZoneNote } from "../../components/period/period-picker.tsx";
import { LiveSign } from "../../components/table/state-badge.tsx";
import { SavedViews } from "../../components/views/saved-views.tsx";
import { timeZone } from "../../format/moments.ts";
import type { LiveState } from "../../live/live.ts";
import { mergeRows, type RequestRow, useNews } from "../../live/news.ts";
import { useApi } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useAccountId } from "../../session.tsx";
import { MainChart, SideCharts } from "./charts.tsx";
import { Feed } from "./feed.tsx";
import { figureNamed } from "./figures.ts";
import { FirstSteps, NoCallsYet } from "./first-steps.tsx";
import classes from "./page.module.css";
import { RangeControls } from "./range-controls.tsx";
import { SeriesTable } from "./series-table.tsx";
import { SetupChecklist } from "./setup.tsx";
import { UsageTiles } from "./tiles.tsx";
import { groupsOf, periodWords, toView, type Usage, useUsage, type View } from "./usage.ts";

/** What happens is shown at once; the sums are asked for again this often at most. */
const refreshMs = 3_000;
const shownRows = 8;

export function Page() {
  const account = useAccountId();
  // Nothing of one account is shown, not even for a moment, as that of another.
  return <Overview key={account ?? ""} account={account} />;
}

function Overview({ account }: { readonly account: string | undefined }) {
  const [search, setSearch] = useSearchText();
  const view = toView(search, account);
  const usage = useUsage(view);
  const newest = useNewest(account);
  const rejected = useRejected(account, newest.data?.length === 0);
  const { live, fresh } = useLiveRows({
    account,
    onChange: () => void usage.refetch(),
    onRejections: () => void rejected.refetch(),
    onConnect: () => void newest.refetch(),
  });
  const rows = mergeRows(fresh, newest.data ?? []).slice(0, shownRows);
  const isEmpty = newest.isSuccess && rows.length === 0;
  // A caller whose calls were all rejected has made them: the charts say so.
  const isNew = isEmpty && rejected.data?.length === 0;
  const isUnsure = isEmpty && rejected.isPending;
  return (
    <>
      <Header
        view={view}
        live={live}
        onChange={setSearch}
        hasControls={!isNew}
        problem={usage.error}
      />
      {account !== undefined && <LastDay account={account} />}
      <SetupChecklist account={account} />
      <ErrorNotice problem={usage.error} onRetry={() => usage.refetch()} />
      {isNew && (account === undefined ? <NoCallsYet /> : <FirstSteps account={account} />)}
      {!isNew && (usage.isPending || isUnsure) && <Loading lines={10} label="Loading overview" />}
      {!isNew && !isUnsure && usage.data !== undefined && (
        <>
          <Narrowed view={view} usage={usage.data} onChange={setSearch} />
          {usage.data.grain === "day" && (
            <DayZoneNote zone={usage.data.time_zone} shown={timeZone()} />
          )}
          <BehindNote sums={usage.data} />
          <UsageTiles usage={usage.data} view={view} />
          <div className={classes.main}>
            <div className={classes.cell}>
              <MainChart
                usage={usage.data}
                by={usage.data.by}
                figure={figureNamed(search["figure"])}
                onFigure={(figure) => setSearch({ figure })}
              />
            </div>
            <div className={classes.cell}>
              <Feed
                account={account}
                rows={rows}
                isFresh={(id) => fresh.some((row) => row.id === id)}
              />
            </div>
          </div>
          <SideCharts usage={usage.data} />
          {usage.data.series.length > 0 && <SeriesTable usage={usage.data} />}
        </>
      )}
    </>
  );
}

interface LiveRowsOptions {
  readonly account: string | undefined;
  readonly onChange: () => void;
  readonly onRejections: () => void;
  readonly onConnect: () => void;
}

function useLiveRows({ account, onChange, onRejections, onConnect }: LiveRowsOptions) {
  const client = useQueryClient();
  const refreshNow = () => {
    onChange();
    void client.invalidateQueries({ queryKey: [standingRoute] });
  };
  const refresh = useThrottledCallback(refreshNow, refreshMs);
  const [fresh, setFresh] = useState<readonly RequestRow[]>([]);
  const live = useNews({
    account,
    onNews: ({ requests }) => {
      setFresh((old) => mergeRows(requests, old).slice(0, shownRows));
      refresh();
    },
    onRejections: () => {
      refresh();
      onRejections();
    },
    onConnect: () => {
      onConnect();
      // Calls that ended while nothing was heard are in no news: only the sums have them. The first
      // news after it need not wait for their turn.
      refreshNow();
    },
  });
  return { live, fresh };
}

function useNewest(account: string | undefined) {
  const name = account === undefined ? "GET /api/requests" : "GET /api/accounts/:account/requests";
  const input = { params: { account: account ?? "" }, query: { limit: shownRows } };
  return useQuery<Reply<"GET /api/requests">, ApiProblem, readonly RequestRow[]>({
    queryKey: [name, input],
    queryFn: async ({ signal }) =>
      (await request(name, input, signal)) as Reply<"GET /api/requests">,
    select: ({ requests }) => requests,
  });
}

/** Whether any call was rejected: asked for only where none was admitted. */
function useRejected(account: string | undefined, enabled: boolean) {
  const name =
    account === undefined ? "GET /api/rejections" : "GET /api/accounts/:account/rejections";
  const input = { params: { account: account ?? "" }, query: { limit: 1 } };
  return useQuery<Reply<"GET /api/rejections">, ApiProblem, readonly unknown[]>({
    queryKey: [name, input],
    queryFn: async ({ signal }) =>
      (await request(name, input, signal)) as Reply<"GET /api/rejections">,
    select: ({ rejections }) => rejections,
    enabled,
  });
}

type Change = (change: Readonly<Record<string, string | undefined>>) => void;

interface HeaderProps {
  readonly view: View;
  readonly live: LiveState;
  readonly onChange: Change;
  readonly hasControls: boolean;
  readonly problem: ApiProblem | null;
}

function Header({ view, live, onChange, hasControls, problem }: HeaderProps) {
  const { account, by } = view;
  const whose = account === undefined ? "all accounts" : "this account";
  return (
    <PageHeader
      title="Overview"
      mark={<LiveSign state={live} />}
      about={
        hasControls
          ? `Usage for ${whose}${view.days === undefined ? " in" : ","} ${periodWords(view)}.`
          : `Spend, requests and latency for ${whose}.`
      }
      actions={
        hasControls && (
          <>
            <SegmentedControl
              size="xs"
              aria-label="Group by"
              value={by}
              data={groupsOf(account).map((group) => ({ value: group, label: `By ${group}` }))}
              onChange={(chosen) => onChange({ by: chosen })}
            />
            <RangeControls view={view} onChange={onChange} problem={problem} />
            <SavedViews page="overview" account={account} />
          </>
        )
      }
    />
  );
}

/** What the page is narrowed to, and the way back. */
function Narrowed(props: {
  readonly view: View;
  readonly usage: Usage;
  readonly onChange: Change;
}) {
  const { view, usage, onChange } = props;
  const { model, key } = view;
  const isEmpty = usage.totals.requests === 0 && usage.totals.rejected === 0;
  const keyName = useKeyName(view);
  if (model === "" && key === "" && !isEmpty) return null;
  return (
    <div className={classes.narrowed} role="status">
      {model !== "" && (
        <Only what="model" name={model} onClear={() => onChange({ model: undefined })} />
      )}
      {key !== "" && (
        <Only what="key" name={keyName} onClear={() => onChange({ key: undefined })} />
      )}
      {isEmpty && (
        <span>
          No calls in this period ({periodWords(view)}).{" "}
          {usage.range !== "90d" && (
            <button
              type="button"
              className={classes.plain}
              onClick={() => onChange({ range: "90d", from: undefined, to: undefined })}
            >
              Show the last 90 days
            </button>
          )}
        </span>
      )}
    </div>
  );
}

/** As people call it; its id until that is known. */
function useKeyName({ account = "", key }: View): string {
  const keys = useApi(
    "GET /api/accounts/:account/keys",
    { params: { account } },
    { enabled: key !== "" && account !== "" },
  );
  return keys.data?.find(({ id, name }) => id === key && name !== "")?.name ?? key;
}

function Only(props: {
  readonly what: string;
  readonly name: string;
  readonly onClear: () => void;
}) {
  const { what, name, onClear } = props;
  return (
    <Button
      size="compact-sm"
      variant="default"
      rightSection={<IconX size={12} />}
      title={`Show all ${what}s`}
      onClick={onClear}
    >
      {what === "model" ? "Model" : "Key"}: {name}
    </Button>
  );
}

/** The day is asked for by the charts, too, and once for both where they show it. */
function LastDay({ account }: { readonly account: string }) {
  const day = useUsage({
    account,
    range: "24h",
    days: undefined,
    isCompared: true,
    by: "model",
    model: "",
    key: "",
  });
  return <BalanceNotice account={account} daySpendUsd={day.data?.totals.charged_usd} hasLink />;
}
