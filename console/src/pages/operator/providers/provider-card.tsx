import { Button, Group } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi, useChange } from "../../../queries.ts";
import { FileBadge } from "../catalog/source.tsx";
import { EditProvider, isEditable } from "./edit-dialog.tsx";
import classes from "./page.module.css";
import { TestResults, useTest } from "./provider-test.tsx";
import { keyWords, type Provider, reasonWords, stateLabels, type Target } from "./words.ts";

const listingFreshMs = 10 * 60_000;

interface ProviderCardProps {
  readonly provider: Provider;
  readonly onOffer: () => void;
}

export function ProviderCard({ provider, onOffer }: ProviderCardProps) {
  const { name, targets } = provider;
  const test = useTest(name);
  const isOut = targets.some(({ state }) => state !== "closed");
  const isKeyMissing = keyWords(provider).isMissing;
  const listing = useApi(
    "GET /api/providers/:name/listing",
    { params: { name } },
    { enabled: !isKeyMissing && targets.length > 0, freshMs: listingFreshMs },
  );
  const unlisted = new Set(listing.data?.unlisted.map(({ upstream }) => upstream));
  return (
    <Panel
      title={name}
      about={<Facts provider={provider} />}
      actions={
        <Group gap={6}>
          <Button
            size="xs"
            variant="default"
            loading={test.isRunning}
            leftSection={<IconPlayerPlay size={14} />}
            onClick={test.start}
            aria-label={`Test ${name}`}
          >
            Test
          </Button>
          {isOut && <Resume name={name} />}
          <Button
            size="xs"
            variant="default"
            onClick={onOffer}
            aria-label={`Add models from ${name}`}
          >
            Add models
          </Button>
          <Edit provider={provider} />
          {provider.source.file === null && <Remove provider={provider} />}
        </Group>
      }
      isFlush
    >
      <TestResults test={test} />
      <DataTable
        caption={`Targets of ${name}`}
        columns={columns({ isKeyMissing, unlisted })}
        rows={targets}
        rowKey={({ model }) => model}
        empty="No model uses this provider yet. Choose “Add models” to see what it offers."
      />
    </Panel>
  );
}

function Facts({ provider }: { readonly provider: Provider }) {
  const { kind, vendor, base_url: baseUrl, options, allow_private: isPrivate } = provider;
  const key = keyWords(provider);
  const plain = options.filter(({ name, value }) => value !== null && name !== "vendor");
  return (
    <span className={classes.facts}>
      <FileBadge source={provider.source} />
      <span>{vendor === null || vendor === kind ? kind : `${vendor} (${kind})`}</span>
      {baseUrl !== null && <code>{baseUrl}</code>}
      {plain.map(({ name, value }) => (
        <span key={name}>
          {name} <code>{value}</code>
        </span>
      ))}
      <span>Key: {key.isMissing ? <StateBadge state="failed" label={key.text} /> : key.text}</span>
      {isPrivate && <span>Private address allowed</span>}
    </span>
  );
}

const columns = ({
  isKeyMissing,
  unlisted,
}: {
  readonly isKeyMissing: boolean;
  readonly unlisted: ReadonlySet<string>;
}): readonly Column<Target>[] => [
  {
    header: "Upstream model",
    cell: ({ model }) => <code className="small anywhere">{model}</code>,
  },
  {
    header: "State",
    cell: (target) =>
      isKeyMissing ? (
        <StateBadge state="failed" label="no key" />
      ) : (
        <TargetState target={target} isUnlisted={unlisted.has(target.model)} />
      ),
  },
  {
    header: "Last 10 s",
    isFigure: true,
    cell: ({ requests, failures }) =>
      requests === 0
        ? "No calls"
        : `${formatCount(requests)} ${requests === 1 ? "call" : "calls"}, ${formatCount(failures)} failed`,
  },
];

interface TargetStateProps {
  readonly target: Target;
  readonly isUnlisted: boolean;
}

function TargetState({ target, isUnlisted }: TargetStateProps) {
  const { state, reason, since, until } = target;
  const isAhead = until !== null && Date.parse(until) > Date.now();
  return (
    <span className={classes.state}>
      <StateBadge state={state === "resting" ? "half-open" : state} label={stateLabels[state]} />
      {state !== "closed" && (
        <small>
          {reasonWords(reason)}
          {since !== null && (
            <>
              {" "}
              Started <Moment at={since} />.
            </>
          )}
          {isAhead && (
            <>
              {" "}
              Next try <Moment at={until} />.
            </>
          )}
        </small>
      )}
      {isUnlisted && (
        <small className={classes.unlisted}>
          Not in the vendor's list of models. It may have been shut down. Change the route.
        </small>
      )}
    </span>
  );
}

function Resume({ name }: { readonly name: string }) {
  const reset = useChange("POST /api/providers/:name/reset", {
    onDone: () => say(`Resumed ${name}.`),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={reset.isPending}
      onClick={() => reset.mutate({ params: { name }, body: {} })}
      aria-label={`Resume ${name}`}
    >
      {" "}
      Resume{" "}
    </Button>
  );
}

function Edit({ provider }: { readonly provider: Provider }) {
  const [isOpen, setOpen] = useState(false);
  const verb = isEditable(provider) ? "Edit" : "View";
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => setOpen(true)}
        aria-label={`${verb} ${provider.name}`}
      >
        {verb}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)} size="lg">
        {() => <EditProvider provider={provider} />}
      </Dialog>
    </>
  );
}

function Remove({ provider }: { readonly provider: Provider }) {
  const { name, models } = provider;
  const catalog = useApi("GET /api/catalog");
  const emptied = models
    .map(({ id }) => id)
    .filter((id) =>
      catalog.data
        ?.find((entry) => entry.id === id)
        ?.routes.every((route) => route.provider === name),
    );
  return (
    <ConfirmButton
      size="xs"
      question={`Remove the provider “${name}”?`}
      consequence={
        <>
          <p>This deletes its key and every route to it.</p>
          {emptied.length > 0 && (
            <p>
              <strong>These models lose their last route:</strong> {emptied.join(", ")}. Calls to
              them are rejected until you add another.
            </p>
          )}
        </>
      }
      verb="Remove"
      aria-label={`Remove ${name}`}
      route="DELETE /api/providers/:name"
      input={{
        params: { name },
        query: emptied.length > 0 ? { empties_models: true } : {},
      }}
      onDone={() => say(`Removed ${name}.`)}
    >
      Remove
    </ConfirmButton>
  );
}
