import { Button } from "@mantine/core";
import { IconPlus, IconServer } from "@tabler/icons-react";
import { useState } from "react";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { useApi } from "../../../queries.ts";
import { AddProvider } from "./add-dialog.tsx";
import { OfferedModels } from "./offer-dialog.tsx";
import { ProviderCard } from "./provider-card.tsx";
import { keyWords, type Provider } from "./words.ts";

const everyMs = 5_000;

export function Page() {
  const found = useApi("GET /api/providers", {}, { everyMs });
  const [isAdding, setAdding] = useState(false);
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
          about="Add a vendor with its key, or your own server with its address. Until then, only the embedded models are served."
          action={add}
        />
      )}
      {providers !== undefined && providers.length > 0 && (
        <>
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
      <Dialog of={offering} onClose={() => setOffering(undefined)} size="lg">
        {(name) => <OfferedModels name={name} />}
      </Dialog>
    </>
  );
}

function Summary({ providers }: { readonly providers: readonly Provider[] }) {
  const targets = providers.flatMap((one) => one.targets);
  const out = targets.filter(({ state }) => state !== "closed").length;
  const keyless = providers.filter((one) => keyWords(one).isMissing).length;
  const requests = targets.reduce((sum, one) => sum + one.requests, 0);
  const failures = targets.reduce((sum, one) => sum + one.failures, 0);
  return (
    <Tiles>
      <StatTile
        label="Providers"
        value={providers.length}
        note={keyless === 0 ? "All keys set" : `${keyless} without a key`}
      />
      <StatTile
        label="Targets in service"
        value={`${targets.length - out} of ${targets.length}`}
        note={out === 0 ? "All in service" : `${out} out of service`}
      />
      <StatTile
        label="Calls, last 10 s"
        value={requests}
        note={failures === 0 ? "No failures" : `${failures} failed`}
      />
    </Tiles>
  );
}
