import { mkdirSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Log } from "../base/log.ts";
import { giveToOwner } from "../base/owned-file.ts";
import { Problem } from "../base/problem.ts";
import { withoutPassword } from "../base/text/passwords.ts";
import type { OnUpgrade, UpgradeNotice } from "../cli/store-wiring.ts";
import { stepText, upgradeLines } from "../cli/upgrade-text.ts";
import type { Settings } from "../config/settings.ts";
import type { PendingStep } from "../store/sql/migrate.ts";
import type { Db } from "../store/sql/schema.ts";
import { noteVersion, readVersions } from "../store/sql/versions.ts";
import { describePending, newestSchema } from "../store/sqlite/migrations/migrations.ts";
import type { Sqlite } from "../store/sqlite/sqlite.ts";
import { hasLedger } from "../store/sqlite/store.ts";
import { backupDatabase } from "./backup/backup.ts";
import { removeOldest } from "./backup/output.ts";
import { masterOf } from "./secret.ts";

/** As many upgrades can be undone. */
const keptBackups = 3;
const backupName = /^\d{8}T\d{6,9}Z-before-.*\.svcbackup$/;

export interface SqliteUpgrade {
  readonly sqlite: Sqlite;
  readonly settings: Settings;
  readonly onUpgrade: OnUpgrade;
}

/**
 * Before an existing database is migrated: a backup, and what the upgrade does. Throws where either
 * fails; then nothing was changed. The caller holds the locks, and migrates.
 */
export async function prepareUpgrade({
  sqlite,
  settings,
  onUpgrade,
}: SqliteUpgrade): Promise<void> {
  if (!hasLedger(sqlite)) return;
  const { db, path } = sqlite;
  const steps = await describePending(db);
  const [first] = steps;
  if (first === undefined) return;
  const backup =
    settings.upgradeBackup === "off"
      ? ({ kind: "off" } as const)
      : ({ kind: "file", path: await backUp({ path, settings, before: first.name }) } as const);
  await onUpgrade(await noticeOf(db, steps, backup));
}

export async function noticeOf(
  db: Db,
  steps: readonly PendingStep[],
  backup: UpgradeNotice["backup"],
): Promise<UpgradeNotice> {
  const from = (await readVersions(db)).at(-1)?.version;
  return { steps, from, to: packageJson.version, backup };
}

/** Gateways of PostgreSQL serve meanwhile, and its own tools make its backups. */
export const dumpOf = (url: string): UpgradeNotice["backup"] => ({
  kind: "pg_dump",
  command: `pg_dump --format=custom --file=svc.dump "${withoutPassword(url)}"`,
});

async function backUp({
  path,
  settings,
  before,
}: {
  readonly path: string;
  readonly settings: Settings;
  readonly before: string;
}): Promise<string> {
  const { dataDir } = settings;
  const folder = join(dataDir, "backups");
  const moment = new Date().toISOString().replaceAll(/[-:.]/g, "");
  const file = join(folder, `${moment}-before-${before}.svcbackup`);
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) giveToOwner(folder);
    await backupDatabase({
      path,
      dataDir,
      file,
      masterOf: (fingerprint) => masterOf(settings, fingerprint),
    });
    removeOldest({ folder, keep: keptBackups, written: file, pattern: backupName });
    return file;
  } catch (cause) {
    throw new Problem({
      code: "failed",
      message: `The database was not upgraded, because its backup failed: ${cause instanceof Error ? cause.message : String(cause)} To upgrade without it, back up by yourself and set SVC_UPGRADE_BACKUP=off.`,
      cause,
    });
  }
}

/** Of the database that this process uses now; cheap where it has not changed. */
export const noteThisVersion = (db: Db, schema = newestSchema) =>
  noteVersion(db, { version: packageJson.version, schema, atMs: Date.now() });

/** For a command without a server, beside its own output. */
export const printUpgrade: OnUpgrade = (notice) =>
  void process.stderr.write(`${upgradeLines(notice).join("\n")}\n`);

/** For a server: one line of its log. */
export const logUpgrade =
  (log: Log): OnUpgrade =>
  (notice) => {
    const { from = "unknown", to, steps, backup } = notice;
    const way = upgradeLines(notice).at(-1) ?? "";
    log.warn("the database is upgraded", {
      from_version: from,
      to_version: to,
      migrations: steps.map(stepText).join(" "),
      backup: backup.kind === "file" ? backup.path : backup.kind,
      way_back: way.replace(/^way back: /, ""),
    });
  };
