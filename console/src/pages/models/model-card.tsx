import { Button, Collapse, Group } from "@mantine/core";
import { IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { CallSamples } from "../../components/code/call-samples.tsx";
import { CopyButton } from "../../components/code/copy-button.tsx";
import { PriceTags } from "../../components/money/price-tags.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { useMay, useSession } from "../../session.tsx";
import { lifecycleWords } from "./lifecycle.ts";
import { type Model, purposeOf } from "./models.ts";
import classes from "./page.module.css";

interface ModelCardProps {
  readonly account: string;
  readonly model: Model;
}

export function ModelCard({ account, model }: ModelCardProps) {
  const { id, status } = model;
  const [isOpen, setOpen] = useState(false);
  const codeId = useId();
  return (
    <li className={classes.card}>
      <div className={classes.top}>
        <div className={classes.title}>
          <h3>
            <code>{id}</code>
          </h3>
          <CopyButton text={id} what={`the ID ${id}`} />
          {status !== "active" && <StateBadge state={status} />}
        </div>
        {status !== "retired" && (
          <Group gap={6}>
            <Button
              size="compact-sm"
              variant="subtle"
              aria-label={`${isOpen ? "Hide code" : "Code"}: ${id}`}
              aria-expanded={isOpen}
              aria-controls={codeId}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? "Hide code" : "Code"}
            </Button>
            <TryIt account={account} model={model} />
          </Group>
        )}
      </div>
      <Lifecycle model={model} />
      <Facts account={account} model={model} />
      <div id={codeId}>
        <Collapse expanded={isOpen}>{isOpen && <Code model={model} />}</Collapse>
      </div>
    </li>
  );
}

function TryIt({ account, model: { id, endpoint } }: ModelCardProps) {
  const mayCall = useMay("developer");
  // The playground takes no uploads of audio.
  if (!mayCall || endpoint === "transcription") return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Try it: ${id}`}
      leftSection={<IconTerminal2 size={14} />}
      renderRoot={(props) => (
        <Link to="/a/$account/playground" params={{ account }} search={{ model: id }} {...props} />
      )}
    >
      Try it
    </Button>
  );
}

function Facts({ account, model }: ModelCardProps) {
  const { max_output_tokens: most } = model;
  return (
    <dl className={classes.facts}>
      <div>
        <dt>Type</dt>
        <dd>{purposeOf(model)}</dd>
      </div>
      <div>
        <dt>Price</dt>
        <dd>
          <Price price={model.price} />
        </dd>
      </div>
      {most !== null && (
        <div className={classes.longest}>
          <dt>Max output</dt>
          <dd>{formatCount(most)} tokens</dd>
        </div>
      )}
      {model.status !== "retired" && (
        <div className={classes.keys}>
          <dt>Keys with access</dt>
          <dd>
            <Keys account={account} keys={model.keys} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Price({ price }: Pick<Model, "price">) {
  const isFree = price !== null && Object.values(price).every((usd) => Number(usd) === 0);
  return isFree ? <>Free</> : <PriceTags price={price} />;
}

function Code({ model }: { readonly model: Model }) {
  const { gateway_url: baseUrl } = useSession();
  return (
    <div className={classes.code}>
      <CallSamples what={`a call to ${model.id}`} baseUrl={baseUrl} model={model} />
    </div>
  );
}

function Lifecycle({ model }: { readonly model: Model }) {
  const isOperator = useMay("operator");
  const told = lifecycleWords(model, Date.now());
  if (told === undefined) return null;
  return (
    <p className={classes.lifecycle} data-state={model.status}>
      {told.words}{" "}
      {told.successor !== null && (
        <>
          Use <code>{told.successor}</code> instead.{" "}
        </>
      )}
      {isOperator && (
        <Link to="/operator/catalog/$model" params={{ model: model.id }}>
          View callers
        </Link>
      )}
    </p>
  );
}

const shownKeys = 3;

function Keys({ account, keys }: { readonly account: string; readonly keys: Model["keys"] }) {
  if (keys.length === 0)
    return (
      <span className="soft">
        None.{" "}
        <Link to="/a/$account/keys" params={{ account }}>
          Manage keys
        </Link>
      </span>
    );
  const rest = keys.slice(shownKeys).map(({ name }) => name);
  return (
    <span>
      {keys
        .slice(0, shownKeys)
        .map(({ name }) => name)
        .join(", ")}
      {rest.length > 0 && <span title={rest.join(", ")}> and {rest.length} more</span>}
    </span>
  );
}
