import { Money } from "../../components/money/money.tsx";
import type { Column } from "../../components/table/data-table.tsx";
import { RequestLink } from "../../components/table/request-link.tsx";
import { OutcomeBadge } from "../../components/table/state-badge.tsx";
import { formatMs } from "../../format/figures.ts";
import { formatExact } from "../../format/moments.ts";
import { formatUnits } from "../../format/units.ts";
import type { RequestRow } from "../../live/news.ts";
import classes from "./page.module.css";

interface ColumnOptions {
  /** Undefined where the operator looks at all accounts. */
  readonly account: string | undefined;
  readonly keyName: (id: string) => string;
  readonly accountName: (id: string) => string;
  readonly isFresh: (id: string) => boolean;
}

const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const dayOf = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

export function requestColumns(options: ColumnOptions): readonly Column<RequestRow>[] {
  const { account, keyName, accountName, isFresh } = options;
  const who: Column<RequestRow> =
    account === undefined
      ? { header: "Account", cell: (row) => accountName(row.account) }
      : { header: "Key", cell: (row) => keyName(row.key) };
  const provider: Column<RequestRow> = {
    header: "Provider",
    isExtra: true,
    cell: (row) => row.provider ?? "–",
  };
  return [
    {
      header: "Time",
      cell: (row) => (
        <span className={classes.time} data-fresh={isFresh(row.id)}>
          <RequestLink account={account} id={row.id}>
            <Time at={row.started_at} />
          </RequestLink>
        </span>
      ),
    },
    { header: "Model", cell: (row) => <span className={classes.model}>{row.model}</span> },
    who,
    ...(account === undefined ? [provider] : []),
    {
      header: "Outcome",
      cell: (row) => <OutcomeBadge outcome={row.outcome} words={row.outcome_words} />,
    },
    { header: "Usage", isFigure: true, cell: (row) => <Used row={row} /> },
    { header: "Charged", isFigure: true, cell: (row) => <Money usd={row.charged_usd} /> },
    {
      header: "First byte",
      isFigure: true,
      isExtra: true,
      cell: ({ first_byte_ms: ms }) => (ms === null ? "–" : formatMs(ms)),
    },
    { header: "Duration", isFigure: true, cell: (row) => formatMs(row.duration_ms) },
  ];
}

/** To the second, with the date unless it is today. */
function Time({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  const day = dayOf.format(atMs);
  return (
    <time dateTime={at} title={formatExact(atMs)}>
      {day === dayOf.format(Date.now()) ? "" : `${day}, `}
      {clock.format(atMs)}
    </time>
  );
}

function Used({ row }: { readonly row: RequestRow }) {
  const words = formatUnits(row.units);
  return row.estimated ? <span title="Counted by the gateway">about {words}</span> : words;
}
