import { Button, Group } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Money } from "../../../components/money/money.tsx";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount, formatMs, formatShare } from "../../../format/figures.ts";
import { useApi, useChange } from "../../../queries.ts";
import { lazyDialog } from "../../../shell/lazy-dialog.tsx";
import { FileBadge } from "../catalog/source.tsx";
import { EditProvider, isEditable } from "./edit-dialog.tsx";
import { ModelTable } from "./model-table.tsx";
import classes from "./page.module.css";
import { TestResults, useTest } from "./provider-test.tsx";
import { partFailing } from "./served-models.ts";
import { keyWords, type Provider } from "./words.ts";

const listingFreshMs = 10 * 60_000;

interface ProviderCardProps {
  readonly provider: Provider;
  readonly onOffer: () => void;
}

export function ProviderCard({ provider, onOffer }: ProviderCardProps) {
  const { name, targets } = provider;
  const test = useTest(name);
  const isOut = !provider.paused && targets.some(({ state }) => state !== "closed");
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
          {isOut && <Reset name={name} />}
          <Button
            size="xs"
            variant="default"
            onClick={onOffer}
            aria-label={`Add models from ${name}`}
          >
            Add models
          </Button>
          <Edit provider={provider} />
          <Keys provider={provider} />
          <Pause provider={provider} />
          {provider.source.file === null && <Remove provider={provider} />}
        </Group>
      }
      isFlush
    >
      <LastDay day={provider.last_24h} />
      <TestResults test={test} />
      <ModelTable provider={provider} unlisted={unlisted} />
    </Panel>
  );
}

function Facts({ provider }: { readonly provider: Provider }) {
  const { kind, vendor, base_url: baseUrl, options, allow_private: isPrivate } = provider;
  const key = keyWords(provider);
  const plain = options.filter(({ name, value }) => value !== null && name !== "vendor");
  return (
    <span className={classes.facts}>
      <ProviderState provider={provider} />
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

/** Models without a price are a to-do, and nothing is green before they have one. */
function ProviderState({ provider }: { readonly provider: Provider }) {
  const { name, status, needs_price: unpriced } = provider;
  const part = partFailing(provider);
  const label = `Needs price (${formatCount(unpriced.length)})`;
  return (
    <>
      {part !== undefined && <StateBadge state="failed" label={part} />}
      {part === undefined && (unpriced.length === 0 || status !== "serving") && (
        <ServingBadge state={status} />
      )}
      {unpriced.length > 0 && (
        <Link to="/operator/catalog" search={{ state: "needs_price", find: `${name}/` }}>
          <StateBadge state="pending" label={label} />
        </Link>
      )}
    </>
  );
}

/** Calls, error rate, latency and cost, so that a slow decline shows. */
function LastDay({ day }: { readonly day: Provider["last_24h"] }) {
  if (day === null) return null;
  if (day.calls === 0) return <p className={classes.day}>No calls in the last 24 hours.</p>;
  const { calls, errors, latency_p95_ms: p95, cost_usd: cost, cost_known_calls: known } = day;
  const hasShortfall = Number(day.shortfall_usd) > 0;
  return (
    <dl className={classes.day} aria-label="Last 24 hours">
      <div>
        <dt>Calls, 24 h</dt>
        <dd>{formatCount(calls)}</dd>
      </div>
      <div>
        <dt>Error rate</dt>
        <dd data-bad={errors > 0}>{formatShare(errors / calls)}</dd>
      </div>
      <div>
        <dt>p95 latency</dt>
        <dd>{p95 === null ? "–" : formatMs(p95)}</dd>
      </div>
      <div>
        <dt>Spend</dt>
        <dd title={cost === null ? "No route to it has a cost." : undefined}>
          {cost === null ? "Unknown" : <Money usd={cost} />}
          {cost !== null && known < calls - errors && (
            <small> for {formatCount(known)} calls</small>
          )}
        </dd>
      </div>
      {hasShortfall && (
        <div>
          <dt>Shortfall</dt>
          <dd data-bad title="Cost of calls beyond their holds. You bear it.">
            <Money usd={day.shortfall_usd} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Calls a target that is skipped or backs off at once, without waiting for its time. */
function Reset({ name }: { readonly name: string }) {
  const reset = useChange("POST /api/providers/:name/reset", {
    onDone: () => say(`${name} is called again.`),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={reset.isPending}
      onClick={() => reset.mutate({ params: { name }, body: {} })}
      aria-label={`Retry ${name} now`}
    >
      Retry now
    </Button>
  );
}

function Pause({ provider: { name, paused } }: { readonly provider: Provider }) {
  const verb = paused ? "Resume" : "Pause";
  const change = useChange("PATCH /api/providers/:name", {
    onDone: () => say(`${verb}d ${name}.`),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={change.isPending}
      onClick={() => change.mutate({ params: { name }, body: { paused: !paused } })}
      aria-label={`${verb} ${name}`}
    >
      {verb}
    </Button>
  );
}

function Keys({ provider: { name } }: { readonly provider: Provider }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => setOpen(true)}
        aria-label={`Keys of ${name}`}
      >
        Keys
      </Button>
      <KeysDialog isOpen={isOpen} onClose={() => setOpen(false)} name={name} />
    </>
  );
}

interface KeysDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly name: string;
}

const KeysDialog = lazyDialog(async () => {
  const { ProviderKeys } = await import("./keys-dialog.tsx");
  return ({ isOpen, onClose, name }: KeysDialogProps) => (
    <Dialog of={isOpen} onClose={onClose} size="xl">
      {() => <ProviderKeys name={name} />}
    </Dialog>
  );
});

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
