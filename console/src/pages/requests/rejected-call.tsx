import { Link } from "@tanstack/react-router";
import { DialogBody } from "../../components/form/dialog.tsx";
import { Fact, Id } from "../../components/layout/fact.tsx";
import { modelStateLabel } from "../../components/table/model-state.tsx";
import { type State, StateBadge } from "../../components/table/state-badge.tsx";
import { dialectName } from "../../format/dialect-name.ts";
import { formatCount } from "../../format/figures.ts";
import { formatExact } from "../../format/moments.ts";
import { useApi } from "../../queries.ts";
import { useAccounts, useMay } from "../../session.tsx";
import classes from "./page.module.css";
import type { Rejection } from "./rejections.ts";

type Reason = NonNullable<Rejection["reason"]>;

const reasons: Readonly<
  Record<Reason, { readonly state: State; readonly label: string; readonly about: string }>
> = {
  unknown_model: {
    state: "unknown",
    label: "Unknown model",
    about: "The catalog has no model or alias with this name.",
  },
  not_allowed: {
    state: "pending",
    label: "Not on the key's list",
    about: "The model is served, but the key is limited to other models.",
  },
  needs_price: {
    state: "pending",
    label: modelStateLabel("needs_price"),
    about: "The model has a route but no price at the time of the call.",
  },
  no_route: {
    state: "failed",
    label: modelStateLabel("no_route"),
    about: "No provider serves the model.",
  },
  retired: { state: "retired", label: "Retired", about: "The model is retired." },
};

/** Why a model could not be called. Only operators see it. */
export function ReasonBadge({ reason }: { readonly reason: Rejection["reason"] | undefined }) {
  if (reason === undefined || reason === null) return null;
  const { state, label, about } = reasons[reason];
  return (
    <span title={about}>
      <StateBadge state={state} label={label} />
    </span>
  );
}

/** Temporary keys, as the playground's, have no name and are not kept. */
export const keyLabel = ({ key_name: name, key_hint: hint }: Rejection) =>
  name === null ? "Temporary key" : name || (hint ?? "");

interface RejectedCallProps {
  readonly of: Rejection;
  /** Undefined where the operator looks at all accounts. */
  readonly account: string | undefined;
}

/** In a dialog: all that is known of a call that was refused, with links to what it was about. */
export function RejectedCall({ of, account }: RejectedCallProps) {
  const { id, at, endpoint, dialect, status, code, message, reason, count } = of;
  const accountName = useAccounts().find((one) => one.id === of.account)?.name;
  return (
    <DialogBody title={`Rejected call, ${status}`}>
      <dl className={classes.facts}>
        <Fact label="Request ID">
          <Id id={id} what="the request ID" />
        </Fact>
        <Fact label="Time">{formatExact(Date.parse(at))}</Fact>
        <Fact label="Key">
          <KeyLink of={of} isForAll={account === undefined} />
          <Id id={of.key} what="the key ID" />
        </Fact>
        {account === undefined && (
          <Fact label="Account">
            <Link to="/operator/accounts/$id" params={{ id: of.account }}>
              {accountName ?? "View account"}
            </Link>
            <Id id={of.account} what="the account ID" />
          </Fact>
        )}
        <Fact label="Model">
          <ModelLink of={of} />
        </Fact>
        <Fact label="Endpoint">{endpoint ?? "Unknown path"}</Fact>
        {dialect !== null && <Fact label="API format">{dialectName(dialect)}</Fact>}
        <Fact label="HTTP status">{status}</Fact>
        <Fact label="Code">
          <code>{code}</code>
        </Fact>
        <Fact label="Message">{message}</Fact>
        {reason !== undefined && reason !== null && (
          <Fact label="Reason">
            <ReasonBadge reason={reason} />
            <span>{reasons[reason].about}</span>
          </Fact>
        )}
        <Fact label="Calls">
          {count === 1 ? "1" : `${formatCount(count)} of this key and code in the same minute`}
        </Fact>
      </dl>
    </DialogBody>
  );
}

/** The list of keys finds it by its id. */
function KeyLink({ of, isForAll }: { readonly of: Rejection; readonly isForAll: boolean }) {
  if (of.key_name === null) return <span>Temporary key</span>;
  const search = { find: of.key };
  const label = [of.key_name, of.key_hint].filter((word) => word !== "").join(" · ");
  return isForAll ? (
    <Link to="/operator/keys" search={search}>
      {label}
    </Link>
  ) : (
    <Link to="/a/$account/keys" params={{ account: of.account }} search={search}>
      {label}
    </Link>
  );
}

/** What was asked for may be an alias, or nothing that there is. */
function ModelLink({ of: { model, account } }: { readonly of: Rejection }) {
  const isOperator = useMay("operator");
  const catalog = useApi("GET /api/catalog", {}, { enabled: isOperator });
  const params = { account };
  const models = useApi("GET /api/accounts/:account/models", { params }, { enabled: !isOperator });
  if (model === null) return "Unknown";
  const named = catalog.data?.find(({ id, aliases }) => id === model || aliases.includes(model));
  if (named !== undefined)
    return (
      <Link to="/operator/catalog/$model" params={{ model: named.id }}>
        {model}
      </Link>
    );
  if (models.data?.some(({ id }) => id === model) !== true) return <span>{model}</span>;
  return (
    <Link to="/a/$account/models" params={params} search={{ find: model }}>
      {model}
    </Link>
  );
}
