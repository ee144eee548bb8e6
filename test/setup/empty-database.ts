import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/store/sqlite/migrations/migrations.ts";
import { openSqlite, type Sqlite } from "../../src/store/sqlite/sqlite.ts";

let empty: Promise<string> | undefined;

/** Migrating is most of the work of opening a new database. It is done once, and copied. */
export async function copyEmptyDatabase(path: string): Promise<void> {
  empty ??= createEmpty();
  copyFileSync(await empty, path);
}

/** In a folder of its own below `root`. */
export async function openEmptyDatabase(root: string): Promise<Sqlite> {
  const path = join(mkdtempSync(join(root, "db-")), "svc.db");
  await copyEmptyDatabase(path);
  return openSqlite(path);
}

async function createEmpty(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-empty-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "svc.db");
  const { db, raw } = openSqlite(path);
  await migrate(db);
  raw.close();
  return path;
}
