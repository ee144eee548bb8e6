import { Button } from "@mantine/core";
import { IconDownload, IconTrendingUp } from "@tabler/icons-react";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { FormProblem } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { BehindNote } from "../../../components/period/behind-note.tsx";
import { daysBefore, dayWords, toDays } from "../../../components/period/period.ts";
import { DayZoneNote } from "../../../components/period/period-picker.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount } from "../../../format/figures.ts";
import { dayOf, useTimeZone } from "../../../format/moments.ts";
import { formatUsd } from "../../../format/money.ts";
import { saveFile } from "../../../format/save-file.ts";
import { useApi } from "../../../queries.ts";
import { useSearchText } from "../../../search.ts";
import { daysOf, toRange } from "./days.ts";
import { FilterBar, type Filters } from "./filters.tsx";
import {
  costWords,
  type Margin,
  type MarginRow,
  marginCsv,
  percentWords,
  toGroup,
} from "./margin.ts";
import { MarginBars } from "./margin-bars.tsx";
import { MarginTable } from "./margin-table.tsx";
import classes from "./page.module.css";

export function Page() {
  const [search, setSearch] = useSearchText();
  const filters = readFilters(search);
  const { by, from, to, isCompared } = filters;
  const time_zone = useTimeZone();
  const margin = useApi(
    "GET /api/margin",
    { query: { by, from, to, time_zone } },
    { keepsOld: true },
  );
  const earlier = daysBefore({ from, to });
  const before = useApi(
    "GET /api/margin",
    { query: { by, ...earlier, time_zone } },
    { enabled: isCompared && from <= to },
  );
  const { data } = margin;
  return (
    <>
      <PageHeader
        title="Margin"
        about={`Charges compared with vendor costs, ${dayWords(filters)}.`}
        actions={
          data !== undefined &&
          data.rows.length > 0 && (
            <Button
              variant="default"
              leftSection={<IconDownload size={16} />}
              onClick={() => download(data)}
            >
              Export CSV
            </Button>
          )
        }
      />
      <FilterBar filters={filters} onChange={setSearch} problem={margin.error} />
      <FormProblem problem={margin.error} fields={filters.range === "days" ? ["from", "to"] : []} />
      {margin.isPending && <Loading lines={8} label="Loading margin" />}
      {data !== undefined && data.rows.length === 0 && (
        <Panel>
          <EmptyState
            icon={IconTrendingUp}
            title="No calls in this period"
            about="Choose another period above. Calls count toward the day they started."
          />
        </Panel>
      )}
      {data !== undefined && data.rows.length > 0 && (
        <>
          <DayZoneNote zone={data.time_zone} shown={time_zone} />
          <BehindNote sums={data} />
          <Figures
            total={data.total}
            before={isCompared ? before.data?.total : undefined}
            versus={dayWords(earlier)}
          />
          <Panel
            title="Margin breakdown"
            about="Each bar shows charges or vendor cost, whichever is higher. The figure is the margin of the requests whose vendor cost is known."
          >
            <MarginBars rows={data.rows} />
          </Panel>
          <Panel title={dayWords(data)} isFlush>
            <MarginTable margin={data} by={toGroup(data.by)} />
          </Panel>
          <Words total={data.total} />
        </>
      )}
    </>
  );
}

function readFilters(search: Readonly<Record<string, string | undefined>>): Filters {
  const range = toRange(search["range"]);
  const today = dayOf(Date.now());
  const chosen = range === "days" ? toDays(search["from"], search["to"]) : undefined;
  const days = chosen ?? daysOf(range === "days" ? "month" : range, today);
  return { by: toGroup(search["by"]), range, ...days, isCompared: search["compare"] !== "off" };
}

interface FiguresProps {
  readonly total: MarginRow;
  readonly before: MarginRow | undefined;
  /** The days of `before`, in words. */
  readonly versus: string;
}

function Figures({ total, before, versus }: FiguresProps) {
  const change = (name: "charged_usd" | "vendor_cost_usd" | "margin_usd") => {
    const [now, then] = [total[name], before?.[name] ?? null];
    if (now === null || then === null || Number(then) <= 0) return {};
    return { change: (Number(now) - Number(then)) / Number(then), versus };
  };
  return (
    <Tiles>
      <StatTile
        label="Charged"
        value={<Money usd={total.charged_usd} />}
        note={requestWords(total.receipts)}
        {...change("charged_usd")}
      />
      <StatTile
        label="Vendor cost"
        value={<MaybeMoney usd={total.vendor_cost_usd} />}
        note={costWords(total)}
        {...change("vendor_cost_usd")}
      />
      <StatTile
        label="Margin"
        value={<MaybeMoney usd={total.margin_usd} />}
        note={marginWords(total)}
        moreIs="good"
        {...change("margin_usd")}
      />
      <StatTile
        label="Shortfall"
        value={<Money usd={total.shortfall_usd} />}
        note="Cost beyond holds, not charged"
      />
    </Tiles>
  );
}

const MaybeMoney = ({ usd }: { readonly usd: string | null }) =>
  usd === null ? "Unknown" : <Money usd={usd} />;

/** The share, and of what: charges with an unknown cost have no margin. */
function marginWords(total: MarginRow): string {
  const { margin_percent: percent, unknown_cost: unknown, charged_known_usd: known } = total;
  if (percent === null)
    return total.vendor_cost_usd === null ? "No vendor cost known" : "Nothing charged";
  const share = percentWords(percent);
  return unknown === 0
    ? `${share} of charges`
    : `${share} of the ${formatUsd(known)} with a known cost`;
}

const requestWords = (count: number) =>
  `${formatCount(count)} ${count === 1 ? "request" : "requests"}`;

/** Explains two columns. */
function Words({ total }: { readonly total: MarginRow }) {
  return (
    <Panel title="About these figures">
      <ul className={classes.words}>
        <li>
          <strong>Vendor cost</strong> is the cost set on the route at the time of each call.{" "}
          <strong>Cost unknown</strong> counts requests on routes without a cost.{" "}
          {total.unknown_cost > 0 && "The margin leaves them out. "}Set a cost on the route in the
          catalog to include later calls. Requests that reached no provider cost nothing.
        </li>
        <li>
          <strong>Shortfall</strong> is the part of a call's cost that exceeds its hold, for example
          when a reply is longer than expected. The operator bears it.
        </li>
      </ul>
    </Panel>
  );
}

function download(margin: Margin): void {
  const file = new Blob([marginCsv(margin)], { type: "text/csv;charset=utf-8" });
  saveFile(file, `margin-by-${margin.by}-${margin.from}-to-${margin.to}.csv`);
}
