import { Database, type SQLQueryBindings } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Kysely, SqliteAdapter, SqliteDialect } from "kysely";
import { Problem } from "../base/problem.ts";
import type { Db } from "./schema.ts";

/** WAL, synchronous NORMAL, one connection: the process that holds the lock is the only writer. */
export function openSqlite(path: string): Db {
  const database = openFile(path);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA busy_timeout = 5000");
  return new Kysely({ dialect: new Dialect({ database: asKyselyExpects(database) }) });
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
    const database = new Database(path, { create: true, strict: true });
    chmodSync(path, 0o600);
    return database;
  } catch (cause) {
    throw new Problem("failed", `The database ${path} cannot be opened: ${String(cause)}`, cause);
  }
}

/** Kysely's SQLite dialect is written for better-sqlite3; bun:sqlite differs in two names. */
function asKyselyExpects(database: Database) {
  return {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.query(sql);
      const bind = (values: readonly unknown[]) => values as SQLQueryBindings[];
      return {
        reader: statement.columnNames.length > 0,
        all: (values: readonly unknown[]) => statement.all(...bind(values)),
        run: (values: readonly unknown[]) => statement.run(...bind(values)),
        iterate: (values: readonly unknown[]) => statement.iterate(...bind(values)),
      };
    },
  };
}
