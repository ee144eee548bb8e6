import { Button, Group } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { ConfirmButton } from "../../components/feedback/confirm-button.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { ResetLink } from "../../components/form/reset-link.tsx";
import { useForm } from "../../components/form/use-form.ts";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { SecondFactor } from "../../components/table/second-factor.tsx";
import { useSession, useUser } from "../../session.tsx";
import { VerifiedForm } from "../me/factors/verified.tsx";
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
  const { provider } = useSession().sign_in;
  const [changing, setChanging] = useState<Member | undefined>();
  const columns: readonly Column<Member>[] = [
    {
      header: "Person",
      cell: (member) => (
        <div className="lines">
          <div>
            {nameOf(member)}
            {member.id === me.id && <i className="soft"> (you)</i>}
          </div>
          <small>{member.email}</small>
        </div>
      ),
    },
    {
      header: "Role",
      cell: ({ role, is_by_identity: isByIdentity }) => (
        <div className="lines">
          <div>{roleWords[role].label}</div>
          {isByIdentity && <small>through {provider ?? "an identity provider"}</small>}
        </div>
      ),
    },
    { header: "Joined", cell: ({ joined_at }) => <Moment at={joined_at} />, isExtra: true },
  ];
  const factor: Column<Member> = {
    header: "Second factor",
    cell: (member) => <SecondFactor of={member} />,
    isExtra: true,
  };
  const actions = actionsColumn<Member>((member) => (
    <Actions account={account} member={member} onChangeRole={() => setChanging(member)} />
  ));
  return (
    <>
      <DataTable
        caption="Members of this account"
        columns={mayChange ? [...columns, factor, actions] : columns}
        rows={members}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            icon={IconUsers}
            title="No members yet"
            about="Invite an owner, who can then manage the account."
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
  const name = nameOf(member);
  const isMe = member.id === me.id;
  return (
    <Group gap={6} justify="flex-end">
      {member.may_reset_password === true && !isMe && (
        <PasswordLink account={account} member={member} />
      )}
      <Button
        size="compact-sm"
        variant="default"
        onClick={onChangeRole}
        aria-label={`Change role of ${name}`}
      >
        {" "}
        Change role{" "}
      </Button>
      <ConfirmButton
        size="compact-sm"
        aria-label={isMe ? "Leave account" : `Remove ${name}`}
        question={isMe ? "Leave this account?" : `Remove ${name} from this account?`}
        consequence={
          isMe
            ? "You will lose access to this account. Tokens you created are revoked. Keys you created keep working."
            : `${name} will lose access to this account immediately. Tokens they created are revoked. Keys they created keep working until you revoke them.`
        }
        verb={isMe ? "Leave" : "Remove"}
        route="DELETE /api/accounts/:account/members/:id"
        input={{ params: { account, id: member.id } }}
        onDone={() => say(isMe ? "You left the account." : `Removed ${name}.`)}
      >
        {isMe ? "Leave" : "Remove"}
      </ConfirmButton>
    </Group>
  );
}

/** Operators only: a password opens all of a person's accounts. */
function PasswordLink({ account, member }: Omit<ActionsProps, "onChangeRole">) {
  const name = nameOf(member);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Reset password of ${name}`}
        onClick={() => setOpen(true)}
      >
        {" "}
        Reset password{" "}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <PasswordLinkForm account={account} member={member} />}
      </Dialog>
    </>
  );
}

function PasswordLinkForm({ account, member }: Omit<ActionsProps, "onChangeRole">) {
  const { sends_mail: mail } = useSession();
  const form = useForm({
    route: "POST /api/accounts/:account/members/:id/reset",
    values: { mail },
    toInput: ({ mail: isMailed }) => ({
      params: { account, id: member.id },
      query: isMailed ? { mail: "yes" as const } : {},
    }),
    onDone: () => "stay",
  });
  return (
    <VerifiedForm form={form}>
      <ResetLink form={form} name={nameOf(member)} email={member.email} />
    </VerifiedForm>
  );
}
