import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useApi } from "../../queries.ts";
import { useOpened } from "../../search.ts";
import { useAccount, useMay } from "../../session.tsx";
import { InvitedTable } from "./invited-table.tsx";
import { InviteMember, roles, roleWords } from "./member-forms.tsx";
import { MembersTable } from "./members-table.tsx";
import classes from "./page.module.css";

export function Page() {
  const account = useAccount();
  const mayChange = useMay("owner");
  const [isInviting, setInviting] = useOpened("new");
  const list = useApi("GET /api/accounts/:account/members", { params: { account: account.id } });
  const invite = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setInviting(true)}>
      Invite member
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Members"
        about={`People with access to ${account.name}.${mayChange ? "" : " Only owners can make changes."}`}
        actions={mayChange && invite}
      />
      <ErrorNotice problem={list.error} onRetry={() => list.refetch()} />
      {list.isPending && <Loading lines={5} label="Loading members" />}
      {list.data !== undefined && (
        <>
          <Panel isFlush>
            <MembersTable
              account={account.id}
              members={list.data.members}
              mayChange={mayChange}
              invite={invite}
            />
          </Panel>
          {list.data.invited.length > 0 && (
            <Panel
              title="Pending invitations"
              about="Unused links. Each link is shown only once, when it is created."
              isFlush
            >
              <InvitedTable
                account={account.id}
                invited={list.data.invited}
                mayChange={mayChange}
              />
            </Panel>
          )}
        </>
      )}
      <Panel title="Roles">
        <dl className={classes.roles}>
          {roles.map((role) => (
            <div key={role}>
              <dt>{roleWords[role].label}</dt>
              <dd>{roleWords[role].about}</dd>
            </div>
          ))}
        </dl>
      </Panel>
      <Dialog of={isInviting} onClose={() => setInviting(false)}>
        {() => <InviteMember account={account.id} />}
      </Dialog>
    </>
  );
}
