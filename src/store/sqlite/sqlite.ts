import { type Changes, Database, type SQLQueryBindings } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Kysely, SqliteAdapter, SqliteDialect } from "kysely";
import { createOwned } from "../../base/owned-file.ts";
import { Problem } from "../../base/problem.ts";
import type { Db } from "../sql/schema.ts";

export interface Sqlite {
  readonly db: Db;
  /** The same connection, for statements that are too hot for a query builder. */
  readonly raw: Database;
  readonly path: string;
  readonly guard: WriteGuard;
}

/** Asked before every write of the query builder; throws when this process may not write. */
export interface WriteGuard {
  check: () => void;
}

/**
 * WAL, synchronous NORMAL, one connection: the process that holds the lock is the only writer. What
 * must survive a power cut is synced by ourselves, off the event loop (wal-sync.ts), and so are the
 * checkpoints, which would hold it up for milliseconds (checkpoints.ts).
 */
export function openSqlite(path: string): Sqlite {
  const raw = openFile(path);
  raw.run("PRAGMA busy_timeout = 5000");
  raw.run("PRAGMA journal_mode = WAL");
  raw.run("PRAGMA synchronous = NORMAL");
  raw.run("PRAGMA foreign_keys = ON");
  raw.run("PRAGMA wal_autocheckpoint = 0");
  // What is erased is gone from the file, too.
  raw.run("PRAGMA secure_delete = ON");
  // Open to all until the store has raised its epoch.
  const guard: WriteGuard = { check: () => {} };
  return {
    db: new Kysely({ dialect: new Dialect({ database: asKyselyExpects(raw, guard) }) }),
    raw,
    path,
    guard,
  };
}

/** An empty database that no file has. */
export function openMemory(): Pick<Sqlite, "db" | "raw"> {
  const raw = new Database(":memory:", { strict: true });
  return { db: new Kysely({ dialect: new Dialect({ database: asKyselyExpects(raw) }) }), raw };
}

/** SQLite can roll back a change of schema, though Kysely does not count on it: a migration is whole. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true;
  }
}

class Dialect extends SqliteDialect {
  override createAdapter() {
    return new Adapter();
  }
}

function openFile(path: string): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!existsSync(path)) closeSync(createOwned(path));
    const database = new Database(path, { create: true, strict: true });
    chmodSync(path, 0o600);
    return database;
  } catch (cause) {
    throw new Problem({
      code: "failed",
      message: `The database ${path} cannot be opened: ${String(cause)}`,
      cause,
    });
  }
}

/**
 * Kysely's SQLite dialect is written for better-sqlite3; bun:sqlite differs in two names. With a
 * guard, every transaction asks it first, and a write outside of one gets a transaction of its own.
 */
export function asKyselyExpects(database: Database, guard?: WriteGuard) {
  return {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.query(sql);
      const bind = (values: readonly unknown[]) => values as SQLQueryBindings[];
      return {
        reader: statement.columnNames.length > 0,
        all: (values: readonly unknown[]) => statement.all(...bind(values)),
        run: (values: readonly unknown[]) => {
          // After some failures SQLite has rolled back by itself; an error here would hide why.
          if (sql === "rollback" && !database.inTransaction) return nothingDone;
          const run = () => statement.run(...bind(values));
          if (guard === undefined || database.inTransaction) return run();
          // One that reads first could not wait for the lock later: SQLite would fail it at once.
          const begin = () => database.query("begin immediate").run();
          return guarded(database, guard, begin, sql === "begin" ? undefined : run);
        },
        iterate: (values: readonly unknown[]) => statement.iterate(...bind(values)),
      };
    },
  };
}

const nothingDone = { changes: 0, lastInsertRowid: 0 };

/** Begins, asks, and then writes and commits, if there is something to write. */
function guarded(
  database: Database,
  guard: WriteGuard,
  begin: () => Changes,
  write?: () => Changes,
): Changes {
  const begun = begin();
  try {
    guard.check();
    if (write === undefined) return begun;
    const written = write();
    database.query("commit").run();
    return written;
  } catch (error) {
    if (database.inTransaction) database.query("rollback").run();
    throw error;
  }
}
