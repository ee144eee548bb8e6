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
        about="Charges compared with vendor costs, by UTC day."
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
          <Figures total={data.total} />
          <Panel
            title="Margin breakdown"
            about="Each bar shows charges or vendor cost, whichever is higher. The figure is the margin."
          >
            <MarginBars rows={data.rows} />
          </Panel>
          <Panel title={`${data.from} to ${data.to}`} isFlush>
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
        note={requestWords(total.receipts)}
      />
      <StatTile
        label="Vendor cost"
        value={<Money usd={total.vendor_cost_usd} />}
        note={unknown === 0 ? "Known for all requests" : `Unknown for ${requestWords(unknown)}`}
      />
      <StatTile
        label="Margin"
        value={<Money usd={total.margin_usd} />}
        note={
          percent === null ? "No vendor cost known" : `${percent.replace("-", "−")}% of charges`
        }
      />
      <StatTile
        label="Shortfall"
        value={<Money usd={total.shortfall_usd} />}
        note="Cost beyond holds, not charged"
      />
    </Tiles>
  );
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
          {total.unknown_cost > 0 && "Their margin equals their charge. "}Set a cost on the route in
          the catalog to include later calls.
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
  const file = new Blob([marginCsv(margin.rows, margin.total)], { type: "text/csv;charset=utf-8" });
  saveFile(file, `margin-by-${margin.by}-${margin.from}-to-${margin.to}.csv`);
}
