import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CopyButton } from "../../components/code/copy-button.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { formatCount } from "../../format/figures.ts";
import { sentenceCase } from "../../format/sentence-case.ts";
import { formatUnits } from "../../format/units.ts";
import { useApi } from "../../queries.ts";
import { useAccounts, useMay } from "../../session.tsx";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";

interface FactsProps {
  readonly receipt: Receipt;
  /** Undefined where the operator looks at all accounts. */
  readonly account: string | undefined;
}

/** The facts of the call, with links to more. */
export function Facts({ receipt, account }: FactsProps) {
  const params = { account: receipt.account };
  const isForAll = account === undefined;
  const mayEditModels = useMay("operator") && isForAll;
  const keys = useApi("GET /api/accounts/:account/keys", { params });
  const key = keys.data?.find(({ id }) => id === receipt.key);
  const accountName = useAccounts().find(({ id }) => id === receipt.account)?.name;
  return (
    <Panel title="Details">
      <dl className={classes.facts}>
        <Fact label="Model">
          {mayEditModels ? (
            <Link to="/operator/catalog/$model" params={{ model: receipt.model }}>
              {receipt.model}
            </Link>
          ) : (
            <Link to="/a/$account/models" params={params}>
              {receipt.model}
            </Link>
          )}
        </Fact>
        <Fact label="Endpoint">{receipt.endpoint}</Fact>
        <Fact label="Key">
          {key === undefined ? (
            keys.isSuccess && <span>Playground key</span>
          ) : (
            <Link to="/a/$account/keys" params={params}>
              {key.name === "" ? key.hint : key.name}
            </Link>
          )}
          <Id id={receipt.key} what="the key ID" />
        </Fact>
        {isForAll && (
          <Fact label="Account">
            <Link to="/operator/accounts/$id" params={{ id: receipt.account }}>
              {accountName ?? "View account"}
            </Link>
            <Id id={receipt.account} what="the account ID" />
          </Fact>
        )}
        {receipt.provider !== undefined && (
          <Fact label="Provider">{receipt.provider ?? "None"}</Fact>
        )}
        <Fact label="Usage">
          {receipt.estimated && "about "}
          {formatUnits(receipt.units)}
        </Fact>
        {receipt.reasoning_tokens > 0 && (
          <Fact label="Reasoning">
            {formatCount(receipt.reasoning_tokens)} of the output tokens
          </Fact>
        )}
        <Fact label="Outcome">
          {sentenceCase(receipt.outcome_words)}
          {receipt.outcome !== "ok" && <code>{receipt.outcome}</code>}
        </Fact>
      </dl>
    </Panel>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <span className={classes.id}>
      <code>{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  );
}
