import { Link } from "@tanstack/react-router";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";

export type OpenLink = Reply<"GET /api/people">["invited"][number];

const columns: readonly Column<OpenLink>[] = [
  { header: "For", cell: ({ email }) => email ?? "whoever has the link" },
  { header: "To", cell: (link) => <Purpose link={link} /> },
  { header: "Made by", cell: ({ invited_by }) => invited_by },
  {
    header: "Ends",
    cell: ({ expires_at }) => (
      <span className="nowrap">
        <Moment at={expires_at} />
      </span>
    ),
  },
  actionsColumn((link) => <TakeBack link={link} />),
];

export function LinksTable({ links }: { readonly links: readonly OpenLink[] }) {
  return <DataTable caption="Open links" columns={columns} rows={links} rowKey={({ id }) => id} />;
}

function Purpose({ link }: { readonly link: OpenLink }) {
  if (link.kind === "operator") return "become an operator";
  if (link.kind === "reset" || link.account === null) return "choose a new password";
  return (
    <span>
      join{" "}
      <Link to="/a/$account/members" params={{ account: link.account.id }}>
        {link.account.name}
      </Link>{" "}
      as {link.role}
    </span>
  );
}

function TakeBack({ link }: { readonly link: OpenLink }) {
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={`Take back the link for ${link.email ?? "whoever has it"}`}
      question="Take this link back?"
      consequence="It stops working at once. You can make another one."
      verb="Take back"
      route="DELETE /api/people/invites/:id"
      input={{ params: { id: link.id } }}
      onDone={() => say("The link is taken back.")}
    >
      Take back
    </ConfirmButton>
  );
}
