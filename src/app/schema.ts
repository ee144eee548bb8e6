import { existsSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../base/problem.ts";
import type { MigrationView } from "../cli/store-wiring.ts";
import type { Configuration } from "../config/load.ts";
import { isPostgresUrl, withoutPassword } from "../config/setting-readers.ts";
import { realDatabasePath } from "../store/sqlite/database-file.ts";
import { lockDatabase, lockDataDir } from "../store/sqlite/lock.ts";
import { migrate, pendingOf } from "../store/sqlite/migrations/migrations.ts";
import { openSqlite } from "../store/sqlite/sqlite.ts";
import { toStoreProblem } from "../store/sqlite/store-problem.ts";

/** `svc migrate`: what a start does with the schema, and nothing else of a start. */
export async function migrateStore(
  configuration: Configuration,
  { dryRun }: { readonly dryRun: boolean },
): Promise<MigrationView> {
  const { databaseUrl } = configuration.settings;
  return isPostgresUrl(databaseUrl)
    ? migratePostgres(databaseUrl, dryRun)
    : migrateSqlite(configuration, dryRun);
}

async function migratePostgres(url: string, dryRun: boolean): Promise<MigrationView> {
  const { openPostgres } = await import("../store/postgres/postgres.ts");
  const { migrate, pendingOf } = await import("../store/postgres/migrations/migrations.ts");
  const { unfinishedCopy } = await import("../store/postgres/unfinished-copy.ts");
  const database = withoutPassword(url);
  try {
    const postgres = await openPostgres({ url, name: "svc migrate", connections: 1 });
    try {
      if (dryRun) return { database, applied: [], pending: await pendingOf(postgres.db) };
      const applied = await migrate(postgres.db);
      return { database, applied, pending: [], warning: await unfinishedCopy(postgres.db) };
    } finally {
      await postgres.close();
    }
  } catch (error) {
    const { toPostgresProblem } = await import("../store/postgres/store-problem.ts");
    throw toPostgresProblem(error, url);
  }
}

/** The file of this installation, also where the settings name PostgreSQL by now. */
export function existingSqlite({ settings }: Configuration): string {
  const { databaseUrl, dataDir } = settings;
  const isFile = databaseUrl !== undefined && !isPostgresUrl(databaseUrl);
  const path = realDatabasePath(isFile ? databaseUrl : join(dataDir, "svc.db"));
  if (existsSync(path)) return path;
  throw new Problem({
    code: "not_found",
    message: `The database ${path} does not exist. Check SVC_DATA_DIR; the first start creates a new database.`,
  });
}

async function migrateSqlite(
  configuration: Configuration,
  dryRun: boolean,
): Promise<MigrationView> {
  const { dataDir } = configuration.settings;
  const path = existingSqlite(configuration);
  // Only reading, which a running server allows.
  if (dryRun) return withSqlite(path, async (db) => pendingView(path, await pendingOf(db)));
  const lock = lockDataDir(dataDir);
  try {
    const unlock = lockDatabase(path);
    try {
      return await withSqlite(path, async (db) => ({
        database: path,
        applied: await migrate(db),
        pending: [],
      }));
    } finally {
      unlock();
    }
  } finally {
    lock.release();
  }
}

const pendingView = (database: string, pending: readonly string[]): MigrationView => ({
  database,
  applied: [],
  pending,
});

async function withSqlite<T>(
  path: string,
  work: (db: ReturnType<typeof openSqlite>["db"]) => Promise<T>,
): Promise<T> {
  try {
    const { db } = openSqlite(path);
    return await work(db).finally(() => db.destroy());
  } catch (error) {
    throw toStoreProblem(error, path);
  }
}
