import { type Icon, IconArrowRight, IconLock, IconTerminal2, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { formatExact, formatMoment } from "../../format/moments.ts";
import { detailOf, sentenceOf, subjectOf } from "./actions.ts";
import classes from "./page.module.css";
import type { AuditRecord } from "./records.ts";

interface TimelineEntryProps {
  readonly record: AuditRecord;
  /** Of people and accounts, by ID. */
  readonly names: ReadonlyMap<string, string>;
  readonly showsAccount: boolean;
}

const kinds: Readonly<Record<string, { readonly icon: Icon; readonly label: string }>> = {
  person: { icon: IconUser, label: "person" },
  operator: { icon: IconUser, label: "operator" },
  token: { icon: IconLock, label: "token" },
  command: { icon: IconTerminal2, label: "command line" },
};
const commands: Readonly<Record<string, string>> = {
  "command line": "The command line",
  start: "Server startup",
};

export function TimelineEntry({ record, names, showsAccount }: TimelineEntryProps) {
  const { at, actor, actor_kind, account, account_name, address } = record;
  const subject = subjectOf(record, names);
  const kind = kinds[actor_kind] ?? { icon: IconUser, label: actor_kind };
  const atMs = Date.parse(at);
  const detail = detailOf(record, names);
  const who = actor_kind === "command" ? (commands[actor] ?? actor) : actor;
  return (
    <li className={classes.entry}>
      <span className={classes.kind} title={kind.label}>
        <kind.icon size={15} />
      </span>
      <div className={classes.words}>
        <p className={classes.sentence}>
          <strong>{who}</strong>
          {actor_kind === "token" && " (token)"} {sentenceOf(record)}{" "}
          {subject !== undefined && <code title={subject.id}>{subject.name}</code>}
        </p>
        {detail.length > 0 && (
          <dl className={classes.detail}>
            {detail.map(({ name, text, before }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {before !== undefined && (
                    <>
                      <del>{before}</del>
                      <IconArrowRight size={13} role="img" aria-label="changed to" />
                    </>
                  )}
                  {text}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <p className={classes.when}>
        <time dateTime={at} title={formatExact(atMs)}>
          {formatMoment(atMs, "clock")}
        </time>
        {address !== "" && <span title="IP address">{address}</span>}
        {showsAccount && account !== null && (
          <Link to="/a/$account/audit" params={{ account }}>
            {account_name ?? names.get(account) ?? account}
          </Link>
        )}
      </p>
    </li>
  );
}
