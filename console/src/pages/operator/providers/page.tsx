import { Button } from "@mantine/core";
import { IconPlus, IconServer } from "@tabler/icons-react";
import { useState } from "react";
import { leastFresh } from "../../../../../src/base/freshness.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { BehindNote } from "../../../components/period/behind-note.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { formatCount, formatShare } from "../../../format/figures.ts";
import { useApi } from "../../../queries.ts";
import { useOpened } from "../../../search.ts";
import { AddProvider } from "./add-dialog.tsx";
import { OfferedModels } from "./offer-dialog.tsx";
import { ProviderCard } from "./provider-card.tsx";
import { servedModels } from "./served-models.ts";
import { keyWords, type Provider } from "./words.ts";

const everyMs = 5_000;

export function Page() {
  const found = useApi("GET /api/providers", {}, { everyMs });
  const [isAdding, setAdding] = useOpened("new");
  const [offering, setOffering] = useState<string>();
  const providers = found.data?.providers;
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Providers"
        about="Upstream services, their keys and their health."
        actions={add}
      />
      <ErrorNotice problem={found.error} onRetry={found.refetch} />
      {found.isPending && <Loading lines={8} label="Loading providers" />}
      {providers !== undefined && providers.length === 0 && (
        <EmptyState
          icon={IconServer}
          title="No providers yet"
          about="Add a vendor with its key, or your own server with its address."
          action={add}
        />
      )}
      {providers !== undefined && providers.length > 0 && (
        <>
          <BehindNote sums={leastFresh(providers.flatMap((one) => one.last_24h ?? []))} />
          <Summary providers={providers} />
          <div className="stacked">
            {providers.map((provider) => (
              <ProviderCard
                key={provider.name}
                provider={provider}
                onOffer={() => setOffering(provider.name)}
              />
            ))}
          </div>
        </>
      )}
      <Dialog of={isAdding} onClose={() => setAdding(false)} size="lg">
        {() => <AddProvider onAdded={setOffering} />}
      </Dialog>
      <Dialog of={offering} onClose={() => setOffering(undefined)} size="xl">
        {(name) => <OfferedModels name={name} />}
      </Dialog>
    </>
  );
}

function Summary({ providers }: { readonly providers: readonly Provider[] }) {
  const models = providers.flatMap(servedModels);
  const count = (wanted: string) => models.filter(({ state }) => state === wanted).length;
  const keyless = providers.filter((one) => keyWords(one).isMissing).length;
  const days = providers.flatMap((one) => one.last_24h ?? []);
  const calls = days.reduce((sum, day) => sum + day.calls, 0);
  const errors = days.reduce((sum, day) => sum + day.errors, 0);
  const worse = (["failing", "untested", "paused"] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  return (
    <Tiles>
      <StatTile
        label="Providers"
        value={providers.length}
        note={keyless === 0 ? "All keys set" : `${keyless} without a key`}
      />
      <StatTile
        label="Models serving"
        value={`${count("serving")} of ${models.length}`}
        note={worse.length === 0 ? "No models failing" : worse.join(", ")}
      />
      <StatTile
        label="Calls, last 24 h"
        value={formatCount(calls)}
        note={errors === 0 ? "No errors" : `${formatShare(errors / calls)} errors`}
      />
    </Tiles>
  );
}
