import { Link } from "@tanstack/react-router";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";

export type OpenLink = Reply<"GET /api/people">["invited"][number];

const columns: readonly Column<OpenLink>[] = [
  { header: "For", cell: ({ email }) => email ?? "Anyone with the link" },
  { header: "Purpose", cell: (link) => <Purpose link={link} /> },
  { header: "Created by", cell: ({ invited_by }) => invited_by },
  {
    header: "Expires",
    cell: ({ expires_at }) => (
      <span className="nowrap">
        <Moment at={expires_at} />
      </span>
    ),
  },
  actionsColumn((link) => <RevokeLink link={link} />),
];

export function LinksTable({ links }: { readonly links: readonly OpenLink[] }) {
  return (
    <DataTable caption="Pending links" columns={columns} rows={links} rowKey={({ id }) => id} />
  );
}

function Purpose({ link }: { readonly link: OpenLink }) {
  if (link.kind === "operator") return "Become an operator";
  if (link.kind === "reset" || link.account === null) return "Reset password";
  return (
    <span>
      Join{" "}
      <Link to="/a/$account/members" params={{ account: link.account.id }}>
        {link.account.name}
      </Link>{" "}
      as {link.role}
    </span>
  );
}

function RevokeLink({ link }: { readonly link: OpenLink }) {
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={`Revoke the link for ${link.email ?? "anyone"}`}
      question="Revoke this link?"
      consequence="It stops working immediately."
      verb="Revoke"
      route="DELETE /api/people/invites/:id"
      input={{ params: { id: link.id } }}
      onDone={() => say("Link revoked.")}
    >
      {" "}
      Revoke{" "}
    </ConfirmButton>
  );
}
