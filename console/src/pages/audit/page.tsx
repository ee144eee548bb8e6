import { Button, NativeSelect } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { formatDay } from "../../format/moments.ts";
import { useAccountId, useMay } from "../../session.tsx";
import { actionGroups, wordsOf } from "./actions.ts";
import classes from "./page.module.css";
import { byDay, useNames, useRecords } from "./records.ts";
import { TimelineEntry } from "./timeline-entry.tsx";

const everything = { value: "", label: "All actions" };

export function Page() {
  const account = useAccountId();
  const mayEnter = useMay("owner");
  const { action = "" } = useSearch({ strict: false });
  const navigate = useNavigate();
  const names = useNames(account);
  const records = useRecords({ account, action, enabled: mayEnter });
  const found = records.data ?? [];
  const choose = (chosen: string) =>
    void navigate({ to: ".", search: chosen === "" ? {} : { action: chosen }, replace: true });
  const filter = (
    <NativeSelect
      aria-label="Action"
      className={classes.filter}
      data={[everything, ...actionGroups().map((group) => ({ ...group, items: [...group.items] }))]}
      value={action}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        about={
          account === undefined
            ? "Every change on the platform, and who made it. Entries are permanent."
            : "Every change in this account, and who made it. Entries are permanent."
        }
        actions={mayEnter && filter}
      />
      {!mayEnter && (
        <EmptyState
          icon={IconFileText}
          title="Only owners can view the audit log"
          about="Ask an account owner to give you the owner role."
        />
      )}
      <ErrorNotice problem={records.error} onRetry={() => records.refetch()} />
      {mayEnter && records.isPending && <Loading lines={8} label="Loading audit log" />}
      {records.isSuccess && found.length === 0 && (
        <Nothing action={action} onShowAll={() => choose("")} />
      )}
      {byDay(found, formatDay).map(({ day, records: ofDay }) => (
        <section key={day} className={classes.day} aria-label={day}>
          <h2 className={classes.date}>{day}</h2>
          <ol className={classes.timeline}>
            {ofDay.map((record) => (
              <TimelineEntry
                key={record.id}
                record={record}
                names={names}
                showsAccount={account === undefined}
              />
            ))}
          </ol>
        </section>
      ))}
      {records.hasNextPage && (
        <Button
          variant="default"
          loading={records.isFetchingNextPage}
          onClick={() => void records.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </>
  );
}

interface NothingProps {
  readonly action: string;
  readonly onShowAll: () => void;
}

function Nothing({ action, onShowAll }: NothingProps) {
  if (action === "")
    return (
      <EmptyState
        icon={IconFileText}
        title="No entries yet"
        about="Changes appear here with the person, the time and the IP address."
      />
    );
  return (
    <EmptyState
      icon={IconFileText}
      title="No matches"
      about={`No entries for “${wordsOf(action)}” yet.`}
      action={
        <Button variant="default" onClick={onShowAll}>
          Show all actions
        </Button>
      }
    />
  );
}
