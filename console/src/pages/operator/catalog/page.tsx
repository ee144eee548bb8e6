import { Button, NativeSelect } from "@mantine/core";
import { IconLayoutGrid, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { modelStates, stateRank } from "../../../../../src/catalog/state.ts";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { OtherPrices, PriceFigure } from "../../../components/money/price-columns.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { modelStateLabel } from "../../../components/table/model-state.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount } from "../../../format/figures.ts";
import { hasWords } from "../../../format/find-words.ts";
import { useApi } from "../../../queries.ts";
import { useOpened, useSearchText } from "../../../search.ts";
import { SelectionBar, usePriceSelection } from "../prices/selection.tsx";
import { AddModel } from "./add-dialog.tsx";
import { ModelState } from "./model-state.tsx";
import classes from "./page.module.css";
import { RouteNames } from "./route-names.tsx";
import { FileBadge } from "./source.tsx";

type Entry = Reply<"GET /api/catalog">[number];

export function Page() {
  const catalog = useApi("GET /api/catalog");
  const [isAdding, setAdding] = useOpened("new");
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      Add model
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Catalog"
        about="Models your callers can use, with price and routing."
        actions={add}
      />
      <ErrorNotice problem={catalog.error} onRetry={catalog.refetch} />
      {catalog.isPending && <Loading lines={8} label="Loading catalog" />}
      {catalog.data !== undefined && catalog.data.length === 0 && (
        <EmptyState
          icon={IconLayoutGrid}
          title="No models yet"
          about="Add a provider and choose which of its models to serve, or add a model by hand."
          action={<Link to="/operator/providers">Go to Providers</Link>}
        />
      )}
      {catalog.data !== undefined && catalog.data.length > 0 && <Models entries={catalog.data} />}
      <Dialog of={isAdding} onClose={() => setAdding(false)} size="lg">
        {() => <AddModel />}
      </Dialog>
    </>
  );
}

/** Whatever needs the operator stands first. */
const worstFirst = (entries: readonly Entry[]) =>
  entries.toSorted((one, other) => stateRank(one.state) - stateRank(other.state));

function Models({ entries }: { readonly entries: readonly Entry[] }) {
  const [search, setSearch] = useSearchText();
  const shown = worstFirst(entries.filter((entry) => fits(entry, search)));
  const selection = usePriceSelection(shown);
  return (
    <>
      <StateTiles entries={entries} />
      <Panel
        title="Models"
        about="Prices in USD per million tokens, unless noted."
        isFlush
        actions={
          <div className={classes.filters}>
            <FindInput label="Search models and providers" placeholder="Model or provider" />
            <NativeSelect
              aria-label="Endpoint"
              value={search["endpoint"] ?? ""}
              onChange={(event) => setSearch({ endpoint: event.currentTarget.value || undefined })}
              data={[
                { value: "", label: "All endpoints" },
                "chat",
                "embeddings",
                "speech",
                "transcription",
              ]}
            />
            <NativeSelect
              aria-label="State"
              value={search["state"] ?? ""}
              onChange={(event) => setSearch({ state: event.currentTarget.value || undefined })}
              data={[{ value: "", label: "Any state" }, ...stateChoices(entries)]}
            />
          </div>
        }
      >
        {shown.length > 0 && <SelectionBar of={selection} />}
        <DataTable
          caption="Models in the catalog"
          columns={[selection.column, ...columns]}
          rows={shown}
          rowKey={({ id }) => id}
          isLinked
          empty="No models match. Change the filters."
        />
      </Panel>
    </>
  );
}

/** With how many models there are of each, the worst first. */
const stateChoices = (entries: readonly Entry[]) =>
  [
    ...modelStates.map((value) => ({ value, label: modelStateLabel(value) })),
    { value: "deprecated", label: "Deprecated" },
    { value: "retired", label: "Retired" },
  ].map(({ value, label }) => {
    const count = entries.filter((entry) => isIn(entry, value)).length;
    return { value, label: count === 0 ? label : `${label} (${formatCount(count)})` };
  });

const isIn = ({ state, status }: Entry, wanted: string) => state === wanted || status === wanted;

function StateTiles({ entries }: { readonly entries: readonly Entry[] }) {
  const count = (...states: readonly string[]) =>
    entries.filter((entry) => states.some((state) => isIn(entry, state))).length;
  const link = (state: string, words: string) => (
    <Link to="." search={{ state }}>
      {words}
    </Link>
  );
  const failing = count("failing");
  const unpriced = count("needs_price");
  const unrouted = count("no_route");
  return (
    <Tiles>
      <StatTile
        label="Serving"
        value={formatCount(count("serving"))}
        note={`${formatCount(count("untested"))} untested, ${formatCount(count("paused"))} paused`}
      />
      <StatTile
        label="Failing"
        value={formatCount(failing)}
        note={failing === 0 ? "No models failing" : link("failing", "Show failing models")}
      />
      <StatTile
        label="Needs price"
        value={formatCount(unpriced)}
        note={
          unpriced === 0
            ? "All models have a price"
            : link("needs_price", `Set prices (${unpriced})`)
        }
      />
      <StatTile
        label="No route"
        value={formatCount(unrouted)}
        note={unrouted === 0 ? "All models have a route" : link("no_route", "Show them")}
      />
    </Tiles>
  );
}

function fits(entry: Entry, search: Readonly<Record<string, string | undefined>>): boolean {
  const { find = "", endpoint, state } = search;
  const names = [
    entry.id,
    ...entry.aliases,
    ...entry.routes.map(({ provider, model }) => `${provider}/${model}`),
  ];
  return (
    hasWords(names.join(" "), find.trim()) &&
    (endpoint === undefined || entry.endpoint === endpoint) &&
    (state === undefined || isIn(entry, state))
  );
}

const columns: readonly Column<Entry>[] = [
  {
    header: "Model",
    cell: ({ id, aliases, endpoint, input, source }) => (
      <span className="lines">
        <Link className="strong" to="/operator/catalog/$model" params={{ model: id }}>
          {id}
        </Link>
        <small>
          {endpoint === "embeddings" ? `${input} embeddings` : endpoint}{" "}
          <FileBadge source={source} />
        </small>
        {aliases.length > 0 && <small>Also {aliases.join(", ")}</small>}
      </span>
    ),
  },
  { header: "State", cell: (entry) => <ModelState entry={entry} /> },
  {
    header: "Input",
    isFigure: true,
    cell: ({ price }) => <PriceFigure price={price} of="input" />,
  },
  {
    header: "Output",
    isFigure: true,
    cell: ({ price }) => <PriceFigure price={price} of="output" />,
  },
  {
    header: "Other prices",
    cell: ({ price }) => <OtherPrices price={price} shown={["input", "output"]} />,
  },
  { header: "Routes", cell: ({ routes }) => <RouteNames routes={routes} /> },
];
