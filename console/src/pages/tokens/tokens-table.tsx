import { ConfirmButton } from "../../components/feedback/confirm-button.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { useAccountId } from "../../session.tsx";
import classes from "./page.module.css";
import { scopeWords } from "./scopes.ts";
import type { Token } from "./tokens.ts";

const columns: readonly Column<Token>[] = [
  {
    header: "Token",
    cell: ({ name, hint }) => (
      <div className="lines">
        {name}
        <code>{hint}</code>
      </div>
    ),
  },
  {
    header: "Scopes",
    cell: ({ role, scopes }) => (
      <div className={classes.may}>
        <span className={classes.role}>{role}</span> {scopeWords(scopes)}
      </div>
    ),
  },
  {
    header: "Created",
    cell: ({ created_at, created_by }) => (
      <span title={`Created by ${created_by}`}>
        <Moment at={created_at} />
      </span>
    ),
    isExtra: true,
  },
  {
    header: "Expires",
    cell: ({ expires_at }) => (expires_at === null ? "Never" : <Moment at={expires_at} />),
  },
  { header: "State", cell: ({ status }) => <StateBadge state={status} /> },
  actionsColumn((token) => (token.status === "active" ? <Revoke token={token} /> : null)),
];

export function TokensTable({ tokens }: { readonly tokens: readonly Token[] }) {
  return <DataTable caption="Tokens" columns={columns} rows={tokens} rowKey={({ id }) => id} />;
}

function Revoke({ token: { id, name } }: { readonly token: Token }) {
  const account = useAccountId();
  const shared = {
    size: "compact-sm",
    "aria-label": `Revoke ${name}`,
    question: `Revoke the token “${name}”?`,
    consequence: "Requests with this token are rejected immediately. This cannot be undone.",
    verb: "Revoke",
    onDone: () => say(`Revoked “${name}”.`),
    children: "Revoke",
  } as const;
  if (account === undefined)
    return <ConfirmButton route="DELETE /api/tokens/:id" input={{ params: { id } }} {...shared} />;
  return (
    <ConfirmButton
      route="DELETE /api/accounts/:account/tokens/:id"
      input={{ params: { account, id } }}
      {...shared}
    />
  );
}
