import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi, useChange } from "../../../queries.ts";
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
        <div className={classes.actions}>
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
          {isOut && <PutBack name={name} />}
          <Button
            size="xs"
            variant="default"
            onClick={onOffer}
            aria-label={`Add models of ${name}`}
          >
            Add models
          </Button>
          <Remove provider={provider} />
        </div>
      }
      isFlush
    >
      <TestResults test={test} />
      <DataTable
        caption={`Targets of ${name}`}
        columns={columns({ isKeyMissing, unlisted })}
        rows={targets}
        rowKey={({ model }) => model}
        empty={
          <p className={classes.nothing}>
            No model is routed to it yet. Choose “Add models” to see what it offers.
          </p>
        }
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
      <span>{vendor === null || vendor === kind ? kind : `${vendor} (${kind})`}</span>
      {baseUrl !== null && <code>{baseUrl}</code>}
      {plain.map(({ name, value }) => (
        <span key={name}>
          {name} <code>{value}</code>
        </span>
      ))}
      <span>Key: {key.isMissing ? <StateBadge state="failed" label={key.text} /> : key.text}</span>
      {isPrivate && <span>may be on a private address</span>}
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
  { header: "Model there", cell: ({ model }) => <code className={classes.code}>{model}</code> },
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
    header: "Lately",
    isFigure: true,
    cell: ({ requests, failures }) =>
      requests === 0
        ? "no calls"
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
              Since <Moment at={since} />
            </>
          )}
          {isAhead && (
            <>
              , tried again <Moment at={until} />
            </>
          )}
          .
        </small>
      )}
      {isUnlisted && (
        <small className={classes.unlisted}>
          Not in the vendor's list of models. It may have been shut down: change the route.
        </small>
      )}
    </span>
  );
}

function PutBack({ name }: { readonly name: string }) {
  const reset = useChange("POST /api/providers/:name/reset", {
    onDone: () => say(`${name} is asked again.`),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={reset.isPending}
      onClick={() => reset.mutate({ params: { name }, body: {} })}
      aria-label={`Put back in service: ${name}`}
    >
      Put back in service
    </Button>
  );
}

function Remove({ provider }: { readonly provider: Provider }) {
  const { name, models } = provider;
  const catalog = useApi("GET /api/catalog");
  const remove = useChange("DELETE /api/providers/:name", {
    onDone: () => say(`${name} is removed.`),
  });
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
          <p>Its key is erased, and all routes to it go.</p>
          {emptied.length > 0 && (
            <p>
              <strong>Nobody serves these models any more:</strong> {emptied.join(", ")}. Calls to
              them are refused until they have another route.
            </p>
          )}
        </>
      }
      verb="Remove"
      aria-label={`Remove ${name}`}
      onConfirm={() =>
        remove.mutateAsync({
          params: { name },
          query: emptied.length > 0 ? { empties_models: true } : {},
        })
      }
    >
      Remove
    </ConfirmButton>
  );
}
