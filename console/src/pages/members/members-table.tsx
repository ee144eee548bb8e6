import { Button, Group } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { Reply } from "../../api.ts";
import { ConfirmButton } from "../../components/feedback/confirm-button.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { ShownLink } from "../../components/form/shown-link.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { useMay, useUser } from "../../session.tsx";
import { ChangeRole, type Member, nameOf, roleWords } from "./member-forms.tsx";

interface MembersTableProps {
  readonly account: string;
  readonly members: readonly Member[];
  readonly mayChange: boolean;
  /** What to do where nobody is here yet. */
  readonly invite: ReactNode;
}

export function MembersTable({ account, members, mayChange, invite }: MembersTableProps) {
  const me = useUser();
  const [changing, setChanging] = useState<Member | undefined>();
  const columns: readonly Column<Member>[] = [
    {
      header: "Person",
      cell: (member) => (
        <div className="lines">
          <div>
            {nameOf(member)}
            {member.id === me.id && <i className="soft"> you</i>}
          </div>
          <small>{member.email}</small>
        </div>
      ),
    },
    { header: "Role", cell: ({ role }) => roleWords[role].label },
    { header: "Joined", cell: ({ joined_at }) => <Moment at={joined_at} />, isExtra: true },
  ];
  const actions = actionsColumn<Member>((member) => (
    <Actions account={account} member={member} onChangeRole={() => setChanging(member)} />
  ));
  return (
    <>
      <DataTable
        caption="Members of this account"
        columns={mayChange ? [...columns, actions] : columns}
        rows={members}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            icon={IconUsers}
            title="Nobody is a member yet"
            about="Invite somebody by a link: as an owner they can look after the account themselves."
            action={mayChange ? invite : undefined}
          />
        }
      />
      <Dialog of={changing} onClose={() => setChanging(undefined)}>
        {(member) => <ChangeRole account={account} member={member} />}
      </Dialog>
    </>
  );
}

interface ActionsProps {
  readonly account: string;
  readonly member: Member;
  readonly onChangeRole: () => void;
}

function Actions({ account, member, onChangeRole }: ActionsProps) {
  const me = useUser();
  const mayReset = useMay("operator");
  const name = nameOf(member);
  const isMe = member.id === me.id;
  return (
    <Group gap={6} justify="flex-end">
      {mayReset && !isMe && <PasswordLink account={account} member={member} />}
      <Button
        size="compact-sm"
        variant="default"
        onClick={onChangeRole}
        aria-label={`Change the role of ${name}`}
      >
        Role …
      </Button>
      <ConfirmButton
        size="compact-sm"
        aria-label={isMe ? "Leave the account" : `Remove ${name}`}
        question={isMe ? "Leave this account?" : `Remove ${name} from this account?`}
        consequence={
          isMe
            ? "You will not see the account any more. Keys that you made go on working."
            : `${name} will not see the account any more, from now on. Keys they made go on working: revoke those that only they knew. An owner can invite them again.`
        }
        verb={isMe ? "Leave" : "Remove"}
        route="DELETE /api/accounts/:account/members/:id"
        input={{ params: { account, id: member.id } }}
        onDone={() => say(isMe ? "You have left the account." : `${name} is out of the account.`)}
      >
        {isMe ? "Leave" : "Remove"}
      </ConfirmButton>
    </Group>
  );
}

/** Operators only: a password opens all of a person's accounts. */
function PasswordLink({ account, member }: Omit<ActionsProps, "onChangeRole">) {
  const name = nameOf(member);
  const [made, setMade] = useState<Reply<"POST /api/accounts/:account/members/:id/reset">>();
  return (
    <>
      <ConfirmButton
        size="compact-sm"
        aria-label={`New password for ${name}`}
        question={`Make a link for a new password of ${name}?`}
        consequence="Whoever opens the link chooses a new password, which ends all sessions of this person. Send it to nobody else."
        verb="Make the link"
        route="POST /api/accounts/:account/members/:id/reset"
        input={{ params: { account, id: member.id } }}
        onDone={setMade}
      >
        Password …
      </ConfirmButton>
      <Dialog of={made} onClose={() => setMade(undefined)}>
        {(link) => <ShownLink title={`New password for ${name}`} made={link} />}
      </Dialog>
    </>
  );
}
