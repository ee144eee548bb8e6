import { type Icon, IconLock, IconTerminal2, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { formatExact } from "../../format/moments.ts";
import { detailOf, wordsOf } from "./actions.ts";
import classes from "./page.module.css";
import type { AuditRecord } from "./records.ts";

interface TimelineEntryProps {
  readonly record: AuditRecord;
  /** Of people, by their ids. */
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
  start: "The start of the server",
};
const time = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

export function TimelineEntry({ record, names, showsAccount }: TimelineEntryProps) {
  const { at, actor, actor_kind, action, subject, account, address } = record;
  const kind = kinds[actor_kind] ?? { icon: IconUser, label: actor_kind };
  const atMs = Date.parse(at);
  const detail = detailOf(record.detail);
  const who = actor_kind === "command" ? (commands[actor] ?? actor) : actor;
  return (
    <li className={classes.entry}>
      <span className={classes.kind} title={kind.label}>
        <kind.icon size={15} />
      </span>
      <div className={classes.words}>
        <p className={classes.sentence}>
          <strong>{who}</strong>
          {actor_kind === "token" && " (a token)"} {wordsOf(action)}{" "}
          {![actor, account, ""].includes(subject) && <code>{names.get(subject) ?? subject}</code>}
        </p>
        {detail.length > 0 && (
          <dl className={classes.detail}>
            {detail.map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <p className={classes.when}>
        <time dateTime={at} title={formatExact(atMs)}>
          {time.format(atMs)}
        </time>
        {address !== "" && <span title="Where from">{address}</span>}
        {showsAccount && account !== null && (
          <Link to="/a/$account/audit" params={{ account }}>
            {account}
          </Link>
        )}
      </p>
    </li>
  );
}
