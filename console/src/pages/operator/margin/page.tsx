import { Button } from "@mantine/core";
import { IconDownload, IconTrendingUp } from "@tabler/icons-react";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { FormProblem } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount } from "../../../format/figures.ts";
import { saveFile } from "../../../format/save-file.ts";
import { useApi } from "../../../queries.ts";
import { useSearchText } from "../../../search.ts";
import { daysOf, toRange } from "./days.ts";
import { FilterBar, type Filters } from "./filters.tsx";
import { type Margin, type MarginRow, marginCsv, toGroup } from "./margin.ts";
import { MarginBars } from "./margin-bars.tsx";
import { MarginTable } from "./margin-table.tsx";
import classes from "./page.module.css";

export function Page() {
  const [search, setSearch] = useSearchText();
  const filters = readFilters(search);
  const { by, from, to } = filters;
  const margin = useApi("GET /api/margin", { query: { by, from, to } }, { keepsOld: true });
  const { data } = margin;
  return (
    <>
      <PageHeader
        title="Margin"
        about="What callers paid beside what vendors ask, by days of UTC."
        actions={
          data !== undefined &&
          data.rows.length > 0 && (
            <Button
              variant="default"
              leftSection={<IconDownload size={16} />}
              onClick={() => download(data)}
            >
              Download as CSV
            </Button>
          )
        }
      />
      <FilterBar filters={filters} onChange={setSearch} problem={margin.error} />
      <FormProblem problem={margin.error} fields={filters.range === "days" ? ["from", "to"] : []} />
      {margin.isPending && <Loading lines={8} label="Loading the margin" />}
      {data !== undefined && data.rows.length === 0 && (
        <Panel>
          <EmptyState
            icon={IconTrendingUp}
            title="No calls in these days"
            about="Choose other days above. Calls count on the day on which they began."
          />
        </Panel>
      )}
      {data !== undefined && data.rows.length > 0 && (
        <>
          <Figures total={data.total} />
          <Panel
            title="Where the money goes"
            about="The bar is what was charged, or what the vendor asks where that is more; the figure is the margin."
          >
            <MarginBars rows={data.rows} />
          </Panel>
          <Panel title={`From ${data.from} to ${data.to}`} isFlush>
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
  const month = daysOf("month", Date.now());
  const days =
    range === "days"
      ? { from: search["from"] ?? month.from, to: search["to"] ?? month.to }
      : daysOf(range, Date.now());
  return { by: toGroup(search["by"]), range, ...days };
}

function Figures({ total }: { readonly total: MarginRow }) {
  const { margin_percent: percent, unknown_cost: unknown } = total;
  return (
    <Tiles>
      <StatTile
        label="Charged"
        value={<Money usd={total.charged_usd} />}
        note={`${formatCount(total.receipts)} requests`}
      />
      <StatTile
        label="Vendor cost"
        value={<Money usd={total.vendor_cost_usd} />}
        note={unknown === 0 ? "known of all requests" : `unknown of ${formatCount(unknown)}`}
      />
      <StatTile
        label="Margin"
        value={<Money usd={total.margin_usd} />}
        note={percent === null ? "no cost is known" : `${percent.replace("-", "−")}% of charged`}
      />
      <StatTile
        label="Shortfall"
        value={<Money usd={total.shortfall_usd} />}
        note="cost beyond what accounts had"
      />
    </Tiles>
  );
}

/** What the two odd columns mean. */
function Words({ total }: { readonly total: MarginRow }) {
  return (
    <Panel title="How to read it">
      <ul className={classes.words}>
        <li>
          <strong>Vendor cost</strong> comes from the costs on the routes of the catalogue, at the
          time of each call. <strong>Cost unknown</strong> counts requests on routes without one
          {total.unknown_cost > 0 && ": their margin looks like all of what was charged"}. Give the
          route a cost in the catalogue, and later calls are counted.
        </li>
        <li>
          <strong>Shortfall</strong> is what calls cost beyond what their account could pay: a reply
          that was longer than what was held for it. It was used, and nobody paid it.
        </li>
      </ul>
    </Panel>
  );
}

function download(margin: Margin): void {
  const file = new Blob([marginCsv(margin.rows, margin.total)], { type: "text/csv;charset=utf-8" });
  saveFile(file, `margin-by-${margin.by}-${margin.from}-to-${margin.to}.csv`);
}
