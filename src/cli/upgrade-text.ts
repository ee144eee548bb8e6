import type { UpgradeNotice } from "./store-wiring.ts";

export function stepText({ name, about, rows }: UpgradeNotice["steps"][number]): string {
  const count = rows === 0 ? "" : ` Goes through ${rows.toLocaleString("en-US")} rows.`;
  return `${name}: ${about}${count}`;
}

/** What an upgrade does, its backup, and the way back as the last line. */
export function upgradeLines({ steps, from, to, backup }: UpgradeNotice): readonly string[] {
  const before = from ?? "the version before";
  return [
    `The database is upgraded from ${from === undefined ? "an earlier version" : `version ${from}`} to version ${to}:`,
    ...steps.map((step) => `  ${stepText(step)}`),
    ...(backup.kind === "file" ? [`backup: ${backup.path}`] : []),
    ...(backup.kind === "pg_dump" ? [`backup, if you have none: ${backup.command}`] : []),
    ...(backup.kind === "off" ? ["backup: none (SVC_UPGRADE_BACKUP=off)"] : []),
    `way back: ${wayBack(backup, before)}`,
  ];
}

function wayBack(backup: UpgradeNotice["backup"], before: string): string {
  const start = `and start ${/^\d/.test(before) ? `svc ${before}` : before} on it.`;
  if (backup.kind === "file")
    return `stop svc, move the database and its -wal and -mark files away, run svc restore ${backup.path} --keep-schema, ${start}`;
  return `restore your backup from before the upgrade, ${start}`;
}
