import { Link } from "@tanstack/react-router";
import { Fact, Id } from "../../components/layout/fact.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { dialectName } from "../../format/dialect-name.ts";
import { formatCount } from "../../format/figures.ts";
import { providerName } from "../../format/provider-name.ts";
import { sentenceCase } from "../../format/sentence-case.ts";
import { formatUnits } from "../../format/units.ts";
import { useApi } from "../../queries.ts";
import { useAccounts, useMay } from "../../session.tsx";
import classes from "./page.module.css";
import { type Receipt, tokensPerSecond } from "./receipt.ts";

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
  const speed = tokensPerSecond(receipt);
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
        {receipt.dialect !== null && <Fact label="API format">{dialectName(receipt.dialect)}</Fact>}
        <Fact label="Key">
          {key === undefined ? (
            keys.isSuccess && <span>Temporary key</span>
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
          <Fact label="Provider">{providerName(receipt.provider ?? "None")}</Fact>
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
        <Fact label="HTTP status">{receipt.status ?? "None: the client disconnected"}</Fact>
        {receipt.streamed !== null && (
          <Fact label="Streamed">{receipt.streamed ? "Yes" : "No"}</Fact>
        )}
        {speed !== undefined && <Fact label="Speed">{formatCount(speed)} tokens/s</Fact>}
      </dl>
    </Panel>
  );
}
