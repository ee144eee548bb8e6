import { existsSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../base/problem.ts";
import type { Configuration } from "../config/load.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import { realDatabasePath } from "../store/sqlite/database-file.ts";

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
