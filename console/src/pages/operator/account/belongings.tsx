import { Link } from "@tanstack/react-router";
import { Panel } from "../../../components/layout/panel.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { LastUse } from "../../../components/table/last-use.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { sentenceCase } from "../../../format/sentence-case.ts";
import type { Details } from "./limits.ts";

const shownRows = 6;

type Key = Details["key_list"][number];
const keyColumns: readonly Column<Key>[] = [
  {
    header: "Key",
    cell: ({ name, hint }) => (
      <div className="lines">
        {name}
        <code>{hint}</code>
      </div>
    ),
  },
  { header: "State", cell: ({ status }) => <StateBadge state={status} /> },
  {
    header: "Last used",
    isFigure: true,
    cell: (key) => <LastUse of={key} />,
  },
];

export function KeysPanel({ details }: { readonly details: Details }) {
  const { id, key_list: keys } = details;
  const working = keys.filter(({ status }) => status === "active");
  return (
    <Panel
      title="Keys"
      about={`${working.length} of ${keys.length} active.`}
      actions={
        <Link className="small" to="/a/$account/keys" params={{ account: id }}>
          {" "}
          View keys{" "}
        </Link>
      }
      isFlush
    >
      <DataTable
        caption="Keys of this account"
        columns={keyColumns}
        rows={[...working, ...keys.filter(({ status }) => status !== "active")].slice(0, shownRows)}
        rowKey={(key) => key.id}
        empty="No keys yet. Create one to start making calls."
      />
    </Panel>
  );
}

type Member = Details["members"][number];
const memberColumns: readonly Column<Member>[] = [
  {
    header: "Person",
    cell: ({ name, email }) => (
      <div className="lines">
        {name}
        <small>{email}</small>
      </div>
    ),
  },
  { header: "Role", isFigure: true, cell: ({ role }) => sentenceCase(role) },
];

export function MembersPanel({ details }: { readonly details: Details }) {
  const { id, members } = details;
  return (
    <Panel
      title="Members"
      about={members.length === 1 ? "1 person." : `${members.length} people.`}
      actions={
        <Link className="small" to="/a/$account/members" params={{ account: id }}>
          {members.length === 0 ? "Invite member" : "View members"}
        </Link>
      }
      isFlush
    >
      <DataTable
        caption="Members of this account"
        columns={memberColumns}
        rows={members.slice(0, shownRows)}
        rowKey={(member) => member.id}
        empty="No members yet. Invite an owner to manage this account."
      />
    </Panel>
  );
}
