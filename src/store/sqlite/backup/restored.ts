import type { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, renameSync } from "node:fs";
import { sql } from "kysely";
import { Problem } from "../../../base/problem.ts";
import { readMeta, writeMeta } from "../../sql/meta.ts";
import { restoringPath, syncFolder } from "../database-file.ts";
import { createMark } from "../mark.ts";
import { migrate } from "../migrations/migrations.ts";
import { openSqlite } from "../sqlite.ts";
import { hasTable } from "./contents.ts";
import { type DatabaseFacts, integrityProblem, readFacts } from "./snapshot.ts";

/** Refuses a directory that has a database, or the trace of one. */
export function refuseExisting(path: string): void {
  const found = ["", "-wal", "-journal", "-mark"]
    .map((end) => path + end)
    .find((one) => existsSync(one));
  if (found === undefined) return;
  throw new Problem({
    code: "conflict",
    message: `${found} exists, and svc restore never replaces a database. Choose an empty directory with --data-dir, or move this one away.`,
  });
}

export interface RestoredOptions {
  /** Of the database once it is whole. */
  readonly path: string;
  readonly backupAtMs: number;
  readonly nowMs: number;
  readonly keepsSchema: boolean;
  /** Nothing shows who wrote the backup: whoever did may know every secret whose hash is in it. */
  readonly endsAccess: boolean;
}

export interface Restored {
  readonly facts: DatabaseFacts;
  /** The migrations that were applied. */
  readonly migrated: readonly string[];
  /** The names of the exports that it has paused. */
  readonly paused: readonly string[];
}

/** Checks what a restore has written, and makes it a database of its own. Nobody can open it yet. */
export async function finishRestored(options: RestoredOptions): Promise<Restored> {
  const { backupAtMs, nowMs, keepsSchema } = options;
  const path = restoringPath(options.path);
  const problem = integrityProblem(path);
  if (problem !== undefined)
    throw new Problem({
      code: "failed",
      message: `The database in the backup is damaged: ${problem}. Use another backup.`,
    });
  const facts = readFacts(path);
  const { db, raw } = openSqlite(path);
  try {
    const migrated = keepsSchema ? [] : await migrate(db);
    const known = await readMeta(db, "restored_from");
    const list: unknown = known === undefined ? [] : JSON.parse(known);
    const moments = { backup_at_ms: backupAtMs, restored_at_ms: nowMs };
    const kept = Array.isArray(list) ? list.slice(-19) : [];
    await writeMeta(db, "restored_from", JSON.stringify([...kept, moments]));
    // An epoch that no process on the original has: such a process cannot take this for its own.
    await sql`insert into meta (key, value) values ('epoch', ${String(nowMs)})
      on conflict do update set value = max(cast(value as integer) + 1, ${nowMs})`.execute(db);
    const paused = pauseExports(raw, nowMs);
    if (options.endsAccess) endAccess(raw, nowMs);
    // One file, which can be renamed.
    raw.run("PRAGMA journal_mode = DELETE");
    return { facts, migrated, paused };
  } finally {
    await db.destroy();
    raw.close();
  }
}

/** The original may still run, and both would write the same files. */
function pauseExports(raw: Database, nowMs: number): readonly string[] {
  if (!hasTable(raw, "exports")) return [];
  const active = raw.query<{ name: string }, []>(
    "select name from exports where paused_at_ms is null order by name",
  );
  const names = active.all().map(({ name }) => name);
  raw.run("update exports set paused_at_ms = ? where paused_at_ms is null", [nowMs]);
  return names;
}

/**
 * Ends all that reaches the platform without another consent of the operator: sessions, open links,
 * tokens, and how operators sign in. A link from the machine lets them in again.
 */
function endAccess(raw: Database, nowMs: number): void {
  const operators = "(select id from users where is_operator is not 0)";
  const statements = {
    sessions: "delete from sessions",
    invites: "delete from invites",
    tokens: `update tokens set revoked_at_ms = ${nowMs} where revoked_at_ms is null`,
    users: "update users set password_hash = '' where is_operator is not 0",
    ...Object.fromEntries(
      ["identities", "passkeys", "totps", "recovery_codes"].map((table) => [
        table,
        `delete from ${table} where user_id in ${operators}`,
      ]),
    ),
  };
  for (const [table, statement] of Object.entries(statements))
    if (hasTable(raw, table)) raw.run(statement);
}

/** The last step: from here on the database is there, whole. */
export function installRestored(path: string, { newestReceipt, sequence }: DatabaseFacts): void {
  const from = restoringPath(path);
  const file = openSync(from, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(from, path);
  syncFolder(path);
  // A database without a mark is a whole one, too; a mark without a database would be a lost one.
  createMark(path, { receiptId: newestReceipt, sequence });
}
