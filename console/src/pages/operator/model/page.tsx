import { Button, Group } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { PriceTimeline } from "../../../components/money/price-timeline.tsx";
import { useApi } from "../../../queries.ts";
import { StateBadges } from "../catalog/model-state.tsx";
import { FileBadge, FileNote, isInFile } from "../catalog/source.tsx";
import { SetPrice } from "../prices/set-price-dialog.tsx";
import { Callers } from "./callers.tsx";
import { LifecyclePanel } from "./lifecycle-panel.tsx";
import { NameActions } from "./name-actions.tsx";
import classes from "./page.module.css";
import { RoutesPanel } from "./routes-panel.tsx";
import { SettingsPanel } from "./settings-panel.tsx";

type Entry = Reply<"GET /api/catalog/:model">;

export function Page() {
  const { model = "" } = useParams({ strict: false });
  const found = useApi("GET /api/catalog/:model", { params: { model } }, { everyMs: 10_000 });
  const entry = found.data;
  return (
    <>
      <PageHeader
        title={model}
        about={entry === undefined ? undefined : aboutWords(entry)}
        mark={entry !== undefined && <Marks entry={entry} />}
        back={<Link to="/operator/catalog">Catalog</Link>}
        actions={
          <Group gap="xs">
            {entry !== undefined && <NameActions entry={entry} />}
            <Button
              variant="default"
              component="a"
              href={`/operator/requests?${new URLSearchParams({ model })}`}
            >
              View requests
            </Button>
          </Group>
        }
      />
      <ErrorNotice problem={found.error} onRetry={found.refetch} />
      {found.isPending && <Loading lines={8} label="Loading model" />}
      {entry !== undefined && <Parts entry={entry} />}
    </>
  );
}

function Marks({ entry }: { readonly entry: Entry }) {
  return (
    <>
      <CopyButton text={entry.id} what="the model ID" />
      <StateBadges entry={entry} />
      <FileBadge source={entry.source} />
    </>
  );
}

function aboutWords({ endpoint, input, owned_by: owner }: Entry): string {
  const kind = {
    chat: "Chat model",
    speech: "Speech model",
    transcription: "Transcription model",
    embeddings: `${input === "text" ? "Text" : "Media"} embeddings model`,
  };
  return `${kind[endpoint]}, owned by ${owner}.`;
}

function Parts({ entry }: { readonly entry: Entry }) {
  const [isPricing, setPricing] = useState(false);
  const prices = useApi("GET /api/prices", { query: { model: entry.id, history: true } });
  return (
    <>
      {entry.not_served_because !== null && entry.status !== "retired" && (
        <p className="notice below" role="status">
          <strong>Not available to callers.</strong> {entry.not_served_because}
        </p>
      )}
      <RoutesPanel entry={entry} />
      <div className={classes.columns}>
        <div className="stacked">
          <Panel
            title="Price"
            actions={
              !isInFile(entry, "price") && (
                <Group gap="xs">
                  {entry.price !== null && <RemovePrice id={entry.id} />}
                  <Button size="xs" variant="default" onClick={() => setPricing(true)}>
                    Set price
                  </Button>
                </Group>
              )
            }
          >
            {isInFile(entry, "price") && (
              <div className="below">
                <FileNote source={entry.source} />
              </div>
            )}
            <ErrorNotice problem={prices.error} onRetry={prices.refetch} />
            {prices.isPending && <Loading lines={3} />}
            {prices.data !== undefined && <PriceTimeline versions={prices.data} />}
          </Panel>
          <SettingsPanel entry={entry} />
        </div>
        <LifecyclePanel entry={entry} />
      </div>
      {entry.status !== "active" && <Callers model={entry.id} />}
      <Dialog of={isPricing} onClose={() => setPricing(false)} size="lg">
        {() => <SetPrice entry={entry} />}
      </Dialog>
    </>
  );
}

function RemovePrice({ id }: { readonly id: string }) {
  return (
    <ConfirmButton
      size="xs"
      route="DELETE /api/prices/:model"
      input={{ params: { model: id } }}
      question={`Remove the price of ${id}?`}
      consequence="Callers cannot use the model until it has a price again. Calls in flight keep theirs."
      verb="Remove price"
      onDone={() => say(`Removed the price of ${id}.`)}
    >
      Remove price
    </ConfirmButton>
  );
}
