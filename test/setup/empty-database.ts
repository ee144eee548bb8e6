import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { migrate } from "../../src/store/sqlite/migrations/migrations.ts";
import { openSqlite, type Sqlite } from "../../src/store/sqlite/sqlite.ts";

/** Migrating is most of the work of opening a new database. It is done once per process. */
const empty = await createEmpty();

export function copyEmptyDatabase(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(empty, path);
}

/** In a folder of its own below `root`. */
export function openEmptyDatabase(root: string): Sqlite {
  const path = join(mkdtempSync(join(root, "db-")), "svc.db");
  copyEmptyDatabase(path);
  return openSqlite(path);
}

async function createEmpty(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-empty-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { db, path } = openSqlite(join(folder, "svc.db"));
  await migrate(db);
  // The last connection moves the log into the file.
  await db.destroy();
  return path;
}
