import { Button } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useState } from "react";
import { fetchFile } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { formatDay } from "../../format/moments.ts";
import { useSearchText } from "../../search.ts";
import { useAccountId, useMay } from "../../session.tsx";
import { Filters } from "./filters.tsx";
import classes from "./page.module.css";
import {
  type AuditFilters,
  byDay,
  toAuditFilters,
  toAuditQuery,
  useNames,
  useRecords,
} from "./records.ts";
import { TimelineEntry } from "./timeline-entry.tsx";

export function Page() {
  const account = useAccountId();
  const mayEnter = useMay("owner");
  const [search, setSearch] = useSearchText();
  const [clears, setClears] = useState(0);
  const filters = toAuditFilters(search);
  const names = useNames(account);
  const records = useRecords({ account, filters, enabled: mayEnter });
  const found = records.data ?? [];
  const change = (part: Partial<AuditFilters>) =>
    setSearch(
      Object.fromEntries(Object.entries(part).map(([name, text]) => [name, text || undefined])),
    );
  const clear = () => {
    change(toAuditFilters({}));
    setClears(clears + 1);
  };
  return (
    <>
      <PageHeader
        title="Audit log"
        about={
          account === undefined
            ? "Every change on the platform, and who made it. Entries are permanent."
            : "Every change in this account, and who made it. Entries are permanent."
        }
        actions={mayEnter && <CsvButton save={() => fetchCsv(account, filters)} file="audit.csv" />}
      />
      {mayEnter && <Filters key={clears} filters={filters} onChange={change} />}
      {!mayEnter && (
        <EmptyState
          icon={IconFileText}
          title="Only owners can view the audit log"
          about="Ask an account owner to give you the owner role."
        />
      )}
      <ErrorNotice problem={records.error} onRetry={() => records.refetch()} />
      {mayEnter && records.isPending && <Loading lines={8} label="Loading audit log" />}
      {records.isSuccess && found.length === 0 && !records.hasNextPage && (
        <Nothing isFiltered={Object.values(filters).some((text) => text !== "")} onClear={clear} />
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

function fetchCsv(account: string | undefined, filters: AuditFilters): Promise<Blob> {
  const query = toAuditQuery(filters);
  return account === undefined
    ? fetchFile("GET /api/audit.csv", { query })
    : fetchFile("GET /api/accounts/:account/audit.csv", { params: { account }, query });
}

interface NothingProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

function Nothing({ isFiltered, onClear }: NothingProps) {
  if (!isFiltered)
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
      about="No entries match these filters."
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    />
  );
}
