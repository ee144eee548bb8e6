import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { SecondFactor } from "../../../components/table/second-factor.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { useUser } from "../../../session.tsx";
import classes from "./page.module.css";
import { nameOf, type Person } from "./person.ts";
import { PersonActions } from "./person-actions.tsx";

interface PeopleTableProps {
  readonly people: readonly Person[];
  readonly operators: number;
}

export function PeopleTable({ people, operators }: PeopleTableProps) {
  const me = useUser();
  const columns: readonly Column<Person>[] = [
    {
      header: "Person",
      cell: (person) => (
        <div className={`lines ${classes.person}`}>
          <div>
            {nameOf(person)}
            {person.id === me.id && <i className="soft"> (you)</i>}
          </div>
          <small>{person.email}</small>
        </div>
      ),
    },
    { header: "Access", cell: (person) => <Access person={person} /> },
    { header: "Second factor", cell: (person) => <SecondFactor of={person} /> },
    { header: "Sessions", cell: SignedIn },
    actionsColumn((person) => (
      <PersonActions person={person} isOnlyOperator={person.is_operator && operators === 1} />
    )),
  ];
  return (
    <DataTable
      caption="People"
      columns={columns}
      rows={people}
      rowKey={({ id }) => id}
      empty={
        <EmptyState
          icon={IconSearch}
          title="No matches"
          about="Search by name, email or account."
        />
      }
    />
  );
}

function Access({ person }: { readonly person: Person }) {
  const { is_operator: isOperator, accounts } = person;
  if (!isOperator && accounts.length === 0) return <span className="soft">No access</span>;
  return (
    <div className={classes.access}>
      {isOperator && <StateBadge state="active" label="Operator" />}
      {accounts.map(({ id, name, role }) => (
        <span key={id}>
          <Link to="/a/$account/members" params={{ account: id }}>
            {name}
          </Link>
          <small>{role}</small>
        </span>
      ))}
    </div>
  );
}

function SignedIn({ sessions, last_seen_at: seen }: Person) {
  if (seen === null) return <span className="soft">None</span>;
  return (
    <div className={`lines ${classes.sessions}`}>
      <div>{sessions === 1 ? "1 browser" : `${sessions} browsers`}</div>
      <small>
        Last seen <Moment at={seen} />
      </small>
    </div>
  );
}
