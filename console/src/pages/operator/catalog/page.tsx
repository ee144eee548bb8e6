import { Button, NativeSelect } from "@mantine/core";
import { IconLayoutGrid, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi } from "../../../queries.ts";
import { useSearchText } from "../../../search.ts";
import { AddModel } from "./add-dialog.tsx";
import { ModelState } from "./model-state.tsx";
import classes from "./page.module.css";
import { RouteNames } from "./route-names.tsx";
import { FileBadge } from "./source.tsx";

type Entry = Reply<"GET /api/catalog">[number];

export function Page() {
  const catalog = useApi("GET /api/catalog");
  const [isAdding, setAdding] = useState(false);
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

const states = ["served", "not served", "deprecated", "retired"] as const;

function Models({ entries }: { readonly entries: readonly Entry[] }) {
  const [search, setSearch] = useSearchText();
  const shown = entries.filter((entry) => fits(entry, search));
  const count = (state: (typeof states)[number]) =>
    entries.filter((entry) => isIn(entry, state)).length;
  return (
    <>
      <Tiles>
        <StatTile label="Served" value={formatCount(count("served"))} note="Available to callers" />
        <StatTile
          label="Not served"
          value={formatCount(count("not served"))}
          note={
            count("not served") === 0
              ? "All models have a price and a route"
              : "See the reasons below"
          }
        />
        <StatTile label="Deprecated" value={formatCount(count("deprecated"))} note="Still served" />
        <StatTile label="Retired" value={formatCount(count("retired"))} note="Calls are rejected" />
      </Tiles>
      <Panel
        title="Models"
        isFlush
        actions={
          <div className={classes.filters}>
            <FindInput label="Search models and providers" placeholder="Model or provider" />
            <NativeSelect
              aria-label="Endpoint"
              value={search["endpoint"] ?? ""}
              onChange={(event) => setSearch({ endpoint: event.currentTarget.value || undefined })}
              data={[{ value: "", label: "All endpoints" }, "chat", "embeddings", "speech"]}
            />
            <NativeSelect
              aria-label="State"
              value={search["state"] ?? ""}
              onChange={(event) => setSearch({ state: event.currentTarget.value || undefined })}
              data={[{ value: "", label: "Any state" }, ...states]}
            />
          </div>
        }
      >
        <DataTable
          caption="Models in the catalog"
          columns={columns}
          rows={shown}
          rowKey={({ id }) => id}
          isLinked
          empty="No models match. Change the filters."
        />
      </Panel>
    </>
  );
}

function isIn(entry: Entry, state: string): boolean {
  if (state === "served") return entry.served;
  if (state === "not served") return !entry.served && entry.status !== "retired";
  return entry.status === state;
}

function fits(entry: Entry, search: Readonly<Record<string, string | undefined>>): boolean {
  const { find = "", endpoint, state } = search;
  const names = [entry.id, ...entry.routes.map(({ provider, model }) => `${provider}/${model}`)];
  return (
    names.join(" ").toLowerCase().includes(find.trim().toLowerCase()) &&
    (endpoint === undefined || entry.endpoint === endpoint) &&
    (state === undefined || isIn(entry, state))
  );
}

const columns: readonly Column<Entry>[] = [
  {
    header: "Model",
    cell: ({ id, endpoint, input, source }) => (
      <span className="lines">
        <Link className="strong" to="/operator/catalog/$model" params={{ model: id }}>
          {id}
        </Link>
        <small>
          {endpoint === "embeddings" ? `${input} embeddings` : endpoint}{" "}
          <FileBadge source={source} />
        </small>
      </span>
    ),
  },
  { header: "State", cell: (entry) => <ModelState entry={entry} /> },
  { header: "Price", cell: ({ price }) => <PriceTags price={price} /> },
  { header: "Routes", cell: ({ routes }) => <RouteNames routes={routes} /> },
];
