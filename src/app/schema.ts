import { withoutPassword } from "../base/text/passwords.ts";
import type { MigrateRequest, MigrationView } from "../cli/store-wiring.ts";
import { stepText } from "../cli/upgrade-text.ts";
import type { Configuration } from "../config/load.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import type { PendingStep } from "../store/sql/migrate.ts";
import { readVersions } from "../store/sql/versions.ts";
import { lockDatabase, lockDataDir } from "../store/sqlite/lock.ts";
import { describePending, migrate } from "../store/sqlite/migrations/migrations.ts";
import { openSqlite, type Sqlite } from "../store/sqlite/sqlite.ts";
import { toStoreProblem } from "../store/sqlite/store-problem.ts";
import { existingSqlite } from "./sqlite-file.ts";
import { dumpOf, noteThisVersion, noticeOf, prepareUpgrade, printUpgrade } from "./upgrade.ts";

/** `svc migrate`: what a start does with the schema, and nothing else of a start. */
export async function migrateStore(
  configuration: Configuration,
  request: MigrateRequest,
): Promise<MigrationView> {
  const { databaseUrl } = configuration.settings;
  return isPostgresUrl(databaseUrl)
    ? migratePostgres(databaseUrl, request)
    : migrateSqlite(configuration, request);
}

async function migratePostgres(
  url: string,
  { dryRun, onUpgrade = printUpgrade }: MigrateRequest,
): Promise<MigrationView> {
  const { openPostgres } = await import("../store/postgres/postgres.ts");
  const { migrate, pendingOf, describePending, newestSchema } = await import(
    "../store/postgres/migrations/migrations.ts"
  );
  const { unfinishedCopy } = await import("../store/postgres/unfinished-copy.ts");
  const database = withoutPassword(url);
  try {
    const postgres = await openPostgres({ url, name: "svc migrate", connections: 1 });
    const { db } = postgres;
    try {
      const pending = await pendingOf(db);
      const steps = await describePending(db);
      const about = aboutOf(steps);
      if (dryRun) return { database, applied: [], pending, about };
      // An empty database has nothing to lose.
      const isEmpty = (await readVersions(db).catch(() => undefined)) === undefined;
      if (steps.length > 0 && !isEmpty) await onUpgrade(await noticeOf(db, steps, dumpOf(url)));
      const applied = await migrate(db);
      await noteThisVersion(db, newestSchema);
      return { database, applied, pending: [], about, warning: await unfinishedCopy(db) };
    } finally {
      await postgres.close();
    }
  } catch (error) {
    const { toPostgresProblem } = await import("../store/postgres/store-problem.ts");
    throw toPostgresProblem(error, url);
  }
}

/** By the name of the migration. */
const aboutOf = (steps: readonly PendingStep[]) =>
  Object.fromEntries(steps.map((step) => [step.name, stepText(step).slice(step.name.length + 2)]));

async function migrateSqlite(
  configuration: Configuration,
  { dryRun, onUpgrade = printUpgrade }: MigrateRequest,
): Promise<MigrationView> {
  const { settings } = configuration;
  const path = existingSqlite(configuration);
  const lookAt = async ({ db }: Sqlite): Promise<MigrationView> => {
    const steps = await describePending(db);
    const pending = steps.map(({ name }) => name);
    return { database: path, applied: [], pending, about: aboutOf(steps) };
  };
  // Only reading, which a running server allows.
  if (dryRun) return withSqlite(path, lookAt);
  const lock = lockDataDir(settings.dataDir, "command");
  try {
    const unlock = lockDatabase(path);
    try {
      return await withSqlite(path, async (sqlite) => {
        const view = await lookAt(sqlite);
        await prepareUpgrade({ sqlite, settings, onUpgrade });
        const applied = await migrate(sqlite.db);
        await noteThisVersion(sqlite.db);
        return { ...view, applied, pending: [] };
      });
    } finally {
      unlock();
    }
  } finally {
    lock.release();
  }
}

async function withSqlite<T>(path: string, work: (sqlite: Sqlite) => Promise<T>): Promise<T> {
  try {
    const sqlite = openSqlite(path);
    return await work(sqlite).finally(() => sqlite.db.destroy());
  } catch (error) {
    throw toStoreProblem(error, path);
  }
}
