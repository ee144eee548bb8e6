import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { useApi } from "../../../queries.ts";
import { useOpened, useSearchText } from "../../../search.ts";
import { InviteOperator } from "./invite-operator.tsx";
import { LinksTable } from "./links-table.tsx";
import { PeopleTable } from "./people-table.tsx";
import type { Person } from "./person.ts";

export function Page() {
  const [search] = useSearchText();
  const [isInviting, setInviting] = useOpened("new");
  const list = useApi("GET /api/people");
  const wanted = (search["find"] ?? "").trim().toLowerCase();
  const people = list.data?.people ?? [];
  const operators = people.filter(({ is_operator }) => is_operator).length;
  return (
    <>
      <PageHeader
        title="People"
        about="Operators and members of accounts."
        actions={
          <Button leftSection={<IconPlus size={16} />} onClick={() => setInviting(true)}>
            Invite operator
          </Button>
        }
      />
      <ErrorNotice problem={list.error} onRetry={() => list.refetch()} />
      {list.isPending && <Loading lines={6} label="Loading people" />}
      {list.data !== undefined && (
        <>
          <Panel
            title={`${people.length} ${people.length === 1 ? "person" : "people"}`}
            about={`${operators} ${operators === 1 ? "operator" : "operators"}.`}
            actions={<FindInput label="Search people" placeholder="Name, email or account" />}
            isFlush
          >
            <PeopleTable
              people={people.filter((person) => textOf(person).includes(wanted))}
              operators={operators}
            />
          </Panel>
          {list.data.invited.length > 0 && (
            <Panel
              title="Pending links"
              about="Unused links. Each link is shown only once, when it is created."
              isFlush
            >
              <LinksTable links={list.data.invited} />
            </Panel>
          )}
        </>
      )}
      <Dialog of={isInviting} onClose={() => setInviting(false)}>
        {() => <InviteOperator />}
      </Dialog>
    </>
  );
}

const textOf = ({ name, email, is_operator: isOperator, accounts }: Person) =>
  [name, email, isOperator ? "operator" : "", ...accounts.map((account) => account.name)]
    .join(" ")
    .toLowerCase();
