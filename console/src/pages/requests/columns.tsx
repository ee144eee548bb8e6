import { IconBroadcast } from "@tabler/icons-react";
import { Money } from "../../components/money/money.tsx";
import type { Column } from "../../components/table/data-table.tsx";
import { RequestLink } from "../../components/table/request-link.tsx";
import { OutcomeBadge } from "../../components/table/state-badge.tsx";
import { dialectName } from "../../format/dialect-name.ts";
import { formatMs } from "../../format/figures.ts";
import { dayOf, formatExact, formatMoment } from "../../format/moments.ts";
import { providerName } from "../../format/provider-name.ts";
import { formatUnits } from "../../format/units.ts";
import type { RequestRow } from "../../live/news.ts";
import type { Sorting } from "./filters.ts";
import classes from "./page.module.css";

interface ColumnOptions {
  /** Undefined where the operator looks at all accounts. */
  readonly account: string | undefined;
  readonly keyName: (id: string) => string;
  readonly accountName: (id: string) => string;
  readonly isFresh: (id: string) => boolean;
  readonly sorting: Sorting;
  readonly onSort: (by: "cost" | "duration") => void;
}

/** Widths are fixed, so that nothing moves when a row arrives; the model has what is left. */
export function requestColumns(options: ColumnOptions): readonly Column<RequestRow>[] {
  const { account, keyName, accountName, isFresh, sorting, onSort } = options;
  const isForAll = account === undefined;
  const sortBy = (by: "cost" | "duration") => ({
    order: sorting.sort === by ? sorting.order : undefined,
    onSort: () => onSort(by),
  });
  const who: Column<RequestRow> = isForAll
    ? { header: "Account", width: 104, cell: (row) => <Name text={accountName(row.account)} /> }
    : { header: "Key", width: 132, cell: (row) => <Name text={keyName(row.key)} /> };
  const provider: Column<RequestRow> = {
    header: "Provider",
    width: 92,
    cell: (row) => <Name text={providerName(row.provider ?? "–")} />,
  };
  return [
    {
      header: "Time",
      width: 106,
      place: "top-start",
      cell: (row) => (
        <span className={classes.time} data-fresh={isFresh(row.id)}>
          <RequestLink account={account} id={row.id}>
            <Time at={row.started_at} />
          </RequestLink>
        </span>
      ),
    },
    {
      header: "Model",
      place: "top",
      cell: (row) => <Model row={row} />,
    },
    who,
    ...(isForAll ? [provider] : []),
    {
      header: "Outcome",
      width: 154,
      place: "bottom-start",
      cell: (row) => (
        <span className={classes.outcome}>
          <OutcomeBadge outcome={row.outcome} words={row.outcome_words} />
          {/* On a phone these have no cells of their own. */}
          <span className={classes.more}>
            {isForAll ? accountName(row.account) : keyName(row.key)} · <Used row={row} />
          </span>
        </span>
      ),
    },
    { header: "HTTP", width: 56, cell: (row) => <Status row={row} /> },
    {
      header: "Usage",
      isFigure: true,
      width: 148,
      cell: (row) => <Used row={row} />,
    },
    {
      header: "Cost",
      isFigure: true,
      width: isForAll ? 98 : 108,
      place: "top-end",
      sort: sortBy("cost"),
      cell: (row) => <Money usd={row.charged_usd} />,
    },
    {
      header: "Duration",
      isFigure: true,
      width: 92,
      place: "bottom-end",
      sort: sortBy("duration"),
      cell: (row) => <Took row={row} />,
    },
  ];
}

/** Most calls have the first dialect: its name in every row would add nothing. */
function Model({ row: { model, dialect } }: { readonly row: RequestRow }) {
  return (
    <>
      <Name text={model} isStrong />
      {dialect !== null && dialect !== "chat" && (
        <span className={classes.dialect}>{dialectName(dialect)}</span>
      )}
    </>
  );
}

/** Two lines at most, so that rows are even; all of it on hover. */
function Name({ text, isStrong = false }: { readonly text: string; readonly isStrong?: boolean }) {
  return (
    <span className={classes.name} data-strong={isStrong} title={text}>
      {text}
    </span>
  );
}

/** Today to the second; before that with the date, to the minute. */
export function Time({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  const isToday = dayOf(atMs) === dayOf(Date.now());
  return (
    <time dateTime={at} title={formatExact(atMs)}>
      {formatMoment(atMs, isToday ? "time" : "shortMoment")}
    </time>
  );
}

function Status({ row: { status, streamed } }: { readonly row: RequestRow }) {
  return (
    <span className={classes.status}>
      {status ?? <span title="The client disconnected before the reply">–</span>}
      {streamed === true && <IconBroadcast size={13} role="img" aria-label="Streamed" />}
    </span>
  );
}

function Took({ row: { first_byte_ms: firstMs, duration_ms: ms } }: { readonly row: RequestRow }) {
  const title = firstMs === null ? "No reply" : `First byte after ${formatMs(firstMs)}`;
  return <span title={title}>{formatMs(ms)}</span>;
}

function Used({ row }: { readonly row: RequestRow }) {
  const words = formatUnits(row.units);
  return row.estimated ? <span title="Counted by the gateway">about {words}</span> : words;
}
