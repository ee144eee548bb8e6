import type { Reply } from "../../api.ts";
import { ConfirmButton } from "../../components/feedback/confirm-button.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { roles, roleWords } from "./member-forms.tsx";

type Invited = Reply<"GET /api/accounts/:account/members">["invited"][number];

interface InvitedTableProps {
  readonly account: string;
  readonly invited: readonly Invited[];
  readonly mayChange: boolean;
}

export function InvitedTable({ account, invited, mayChange }: InvitedTableProps) {
  const columns: readonly Column<Invited>[] = [
    { header: "For", cell: forWhom },
    { header: "Role", cell: ({ role }) => labelOf(role) },
    { header: "Invited by", cell: ({ invited_by }) => invited_by },
    { header: "Expires", cell: ({ expires_at }) => <Moment at={expires_at} /> },
  ];
  const actions = actionsColumn<Invited>((invite) => (
    <TakeBack account={account} invite={invite} />
  ));
  return (
    <DataTable
      caption="Pending invitations"
      columns={mayChange ? [...columns, actions] : columns}
      rows={invited}
      rowKey={({ id }) => id}
    />
  );
}

function TakeBack(props: { readonly account: string; readonly invite: Invited }) {
  const { account, invite } = props;
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={`Revoke the invitation for ${forWhom(invite)}`}
      question="Revoke this invitation?"
      consequence="Its link stops working immediately."
      verb="Revoke"
      route="DELETE /api/accounts/:account/invites/:id"
      input={{ params: { account, id: invite.id } }}
      onDone={() => say("Invitation revoked.")}
    >
      {" "}
      Revoke{" "}
    </ConfirmButton>
  );
}

const forWhom = ({ email }: Invited) => email ?? "anyone with the link";

function labelOf(role: string | null): string {
  const known = roles.find((one) => one === role);
  return known === undefined ? (role ?? "") : roleWords[known].label;
}
