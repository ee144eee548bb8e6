import { IconClock } from "@tabler/icons-react";
import type { Reply } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { formatDay } from "../../format/moments.ts";
import { useApi } from "../../queries.ts";
import classes from "./page.module.css";

type Change = Reply<"GET /api/changes">[number];

export function Page() {
  const changes = useApi("GET /api/changes");
  return (
    <>
      <PageHeader
        hasTimes={false}
        title="Changelog"
        about="Changes to the API, newest first. Deprecated features work until their removal date."
        actions={
          <p className={classes.links}>
            <a href="/changelog.txt">Plain text</a>
            <a href="/openapi.json">OpenAPI</a>
          </p>
        }
      />
      <ErrorNotice problem={changes.error} onRetry={() => changes.refetch()} />
      {changes.isPending && <Loading lines={6} label="Loading changelog" />}
      {changes.data?.length === 0 && (
        <EmptyState
          icon={IconClock}
          title="No changes yet"
          about="Additions, changes and removals of fields and endpoints are announced here."
        />
      )}
      {byDay(changes.data ?? []).map(({ date, entries }) => (
        <section key={date} className={classes.day} aria-labelledby={`day-${date}`}>
          <h2 id={`day-${date}`} className={classes.date}>
            <time dateTime={date}>{formatDay(Date.parse(`${date}T12:00:00`))}</time>
          </h2>
          <ul className={classes.entries}>
            {entries.map((entry, at) => (
              <Entry key={at} entry={entry} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Entry({ entry }: { readonly entry: Change }) {
  return (
    <li className={classes.entry}>
      <p className={classes.head}>
        <span className={classes.kind} data-kind={entry.kind}>
          {entry.kind}
        </span>
        <span className={classes.version}>{entry.version}</span>
      </p>
      <div className={classes.words}>
        <p>{entry.what}</p>
        {entry.notes.length > 0 && (
          <dl className={classes.notes}>
            {entry.notes.map(({ name, text }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </li>
  );
}

function byDay(changes: readonly Change[]) {
  const days: { readonly date: string; readonly entries: Change[] }[] = [];
  for (const entry of changes) {
    const last = days.at(-1);
    if (last?.date === entry.date) last.entries.push(entry);
    else days.push({ date: entry.date, entries: [entry] });
  }
  return days;
}
