import { existsSync } from "node:fs";
import { join } from "node:path";
import { NoDatabase } from "../cli/store-wiring.ts";
import type { Configuration } from "../config/load.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import type { Settings } from "../config/settings.ts";
import { hasDirectory, refuseUnusable } from "../store/sqlite/data-dir.ts";
import { realDatabasePath, refuseMissing } from "../store/sqlite/database-file.ts";

/** The file of this installation, also where the settings name PostgreSQL by now. */
export function existingSqlite({ settings }: Configuration): string {
  const { databaseUrl, dataDir } = settings;
  const isFile = databaseUrl !== undefined && !isPostgresUrl(databaseUrl);
  const path = realDatabasePath(isFile ? databaseUrl : join(dataDir, "svc.db"));
  if (existsSync(path)) return path;
  throw noSqlite(path, settings);
}

/** For a command that uses SQLite and must not create it: refuses before anything is created. */
export function refuseNoSqlite(path: string, settings: Settings): void {
  if (existsSync(path)) return;
  const { dataDir } = settings;
  // One that cannot be reached looks like one without a database.
  if (hasDirectory(dataDir)) refuseUnusable(dataDir, "command");
  refuseMissing(realDatabasePath(path), dataDir);
  throw noSqlite(path, settings);
}

export const noSqlite = (path: string, { databaseUrl }: Settings, isEmpty = false) =>
  new NoDatabase({
    database: path,
    isEmpty,
    setting:
      databaseUrl === undefined || isPostgresUrl(databaseUrl) ? "SVC_DATA_DIR" : "SVC_DATABASE_URL",
  });
