import { Button, Drawer, NativeSelect } from "@mantine/core";
import { IconDownload, IconTag } from "@tabler/icons-react";
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
import { OtherPrices, PriceFigure } from "../../../components/money/price-columns.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { PriceTimeline } from "../../../components/money/price-timeline.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { formatCount } from "../../../format/figures.ts";
import { hasWords } from "../../../format/find-words.ts";
import { formatDay } from "../../../format/moments.ts";
import { useApi } from "../../../queries.ts";
import { useSearchText } from "../../../search.ts";
import { FileBadge, isInFile } from "../catalog/source.tsx";
import { ImportPrices } from "./import-dialog.tsx";
import classes from "./page.module.css";
import { SelectionBar, usePriceSelection } from "./selection.tsx";
import { SetPrice } from "./set-price-dialog.tsx";

type Entry = Reply<"GET /api/catalog">[number];

export function Page() {
  const catalog = useApi("GET /api/catalog");
  const [isImporting, setImporting] = useState(false);
  const [pricing, setPricing] = useState<string>();
  const [looking, setLooking] = useState<string>();
  const entries = catalog.data?.filter(({ status }) => status !== "retired");
  return (
    <>
      <PageHeader
        title="Prices"
        about="Prices that callers pay. Each change creates a new version. Each receipt records the version it was charged at."
        actions={
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => setImporting(true)}
          >
            Import list prices
          </Button>
        }
      />
      <ErrorNotice problem={catalog.error} onRetry={catalog.refetch} />
      {catalog.isPending && <Loading lines={8} label="Loading prices" />}
      {entries !== undefined && (
        <PriceTable entries={entries} onSet={setPricing} onLook={setLooking} />
      )}
      <History model={looking} onClose={() => setLooking(undefined)} />
      <Dialog
        of={entries?.find(({ id }) => id === pricing)}
        onClose={() => setPricing(undefined)}
        size="lg"
      >
        {(entry) => <SetPrice entry={entry} />}
      </Dialog>
      <Dialog of={isImporting} onClose={() => setImporting(false)} size="xl">
        {() => <ImportPrices />}
      </Dialog>
    </>
  );
}

interface Doings {
  readonly onSet: (model: string) => void;
  readonly onLook: (model: string) => void;
}

function PriceTable({ entries, ...doings }: Doings & { readonly entries: readonly Entry[] }) {
  const [{ find = "", state }, setSearch] = useSearchText();
  const shown = entries.filter(
    (entry) => hasWords(entry.id, find.trim()) && (state !== needsPrice || lacksPrice(entry)),
  );
  const selection = usePriceSelection(shown);
  const lacking = entries.filter(lacksPrice).length;
  return (
    <Panel
      title="Current and scheduled prices"
      about={
        lacking === 0
          ? "USD per million tokens, unless noted."
          : `${lacking} ${lacking === 1 ? "model needs" : "models need"} a price and cannot be called.`
      }
      actions={
        <div className={classes.filters}>
          <FindInput label="Search models" placeholder="Model" />
          <NativeSelect
            aria-label="Price"
            value={state === needsPrice ? needsPrice : ""}
            onChange={(event) => setSearch({ state: event.currentTarget.value || undefined })}
            data={[
              { value: "", label: "All models" },
              { value: needsPrice, label: `Needs price (${formatCount(lacking)})` },
            ]}
          />
        </div>
      }
      isFlush
    >
      {shown.length > 0 && <SelectionBar of={selection} />}
      <DataTable
        caption="Prices by model"
        columns={[selection.column, ...columns(doings)]}
        rows={shown}
        rowKey={({ id }) => id}
        empty={
          entries.length > 0 ? (
            state === needsPrice && lacking === 0 ? (
              "All models have a price."
            ) : (
              "No models match. Change the filters."
            )
          ) : (
            <EmptyState
              icon={IconTag}
              title="No models yet"
              about="Add models from a provider first. Then set their prices here."
              action={<Link to="/operator/providers">View providers</Link>}
            />
          )
        }
      />
    </Panel>
  );
}

const needsPrice = "needs_price";

/** Also without a route, where its state is another. */
const lacksPrice = ({ price, classes: all }: Entry) =>
  all.some(({ name, needed }) => needed && price?.[name] === undefined);

const shownClasses = ["input", "cached_input", "output"];

const columns = ({ onSet, onLook }: Doings): readonly Column<Entry>[] => [
  {
    header: "Model",
    cell: ({ id }) => (
      <Link className={classes.model} to="/operator/catalog/$model" params={{ model: id }}>
        {id}
      </Link>
    ),
  },
  {
    header: "Input",
    isFigure: true,
    cell: ({ price }) =>
      price === null ? (
        <ServingBadge state="needs_price" />
      ) : (
        <PriceFigure price={price} of="input" />
      ),
  },
  {
    header: "Cached",
    isFigure: true,
    cell: ({ price }) => <PriceFigure price={price} of="cached_input" />,
  },
  {
    header: "Output",
    isFigure: true,
    cell: ({ price }) => <PriceFigure price={price} of="output" />,
  },
  { header: "Other", cell: ({ price }) => <OtherPrices price={price} shown={shownClasses} /> },
  {
    header: "Scheduled",
    cell: ({ coming }) =>
      coming.length === 0 ? (
        <span className="soft">—</span>
      ) : (
        <span className={classes.coming}>
          {coming.map(({ price, effective_at: at }) => (
            <span key={at}>
              <time dateTime={at}>from {formatDay(Date.parse(at))}</time>{" "}
              <PriceTags price={price} />
            </span>
          ))}
        </span>
      ),
  },
  actionsColumn((entry) => (
    <span className={classes.actions}>
      {isInFile(entry, "price") && <FileBadge source={entry.source} />}
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        onClick={() => onLook(entry.id)}
        aria-label={`History of ${entry.id}`}
      >
        History
      </Button>
      {!isInFile(entry, "price") && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onSet(entry.id)}
          aria-label={`Set price of ${entry.id}`}
        >
          Set price
        </Button>
      )}
    </span>
  )),
];

function History({
  model,
  onClose,
}: {
  readonly model: string | undefined;
  readonly onClose: () => void;
}) {
  const versions = useApi(
    "GET /api/prices",
    { query: { model: model ?? "", history: true } },
    { enabled: model !== undefined },
  );
  return (
    <Drawer
      opened={model !== undefined}
      onClose={onClose}
      position="right"
      title={`Prices of ${model ?? ""}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <ErrorNotice problem={versions.error} onRetry={versions.refetch} />
      {versions.isPending && <Loading lines={4} />}
      {versions.data !== undefined && <PriceTimeline versions={versions.data} />}
    </Drawer>
  );
}
