import { Database } from "bun:sqlite";

/** What a database that was not written here would make the gateway do. */
export interface ForeignContents {
  /** Triggers, views and virtual tables: the gateway has none, and SQLite would run them. */
  readonly programs: readonly string[];
  /** Rows of providers, as they are stored. */
  readonly providers: readonly Readonly<Record<string, unknown>>[];
  /** Rows of exports, paused or not. */
  readonly exports: readonly { readonly name: string; readonly target: string }[];
  /** Emails of users who administer the gateway. */
  readonly operators: readonly string[];
}

/** Writes nothing, and lets views and triggers call no function. */
export function readForeign(path: string): ForeignContents {
  const raw = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    raw.run("PRAGMA trusted_schema = OFF");
    raw.run("PRAGMA query_only = ON");
    const programs = raw
      .query<{ type: string; name: string }, []>(
        `select type, name from sqlite_master where type in ('trigger', 'view')
         or (type = 'table' and (sql like 'create virtual%' or sql like '%generated always%'))`,
      )
      .all()
      .map(({ type, name }) => `${type} ${name}`);
    // What it would compute is not read.
    if (programs.length > 0) return { programs, providers: [], exports: [], operators: [] };
    const rows = <T>(table: string, columns: string): T[] =>
      raw.query("select 1 from sqlite_master where type = 'table' and name = ?").get(table) === null
        ? []
        : raw.query<T, []>(`select ${columns} from ${table} limit 1000`).all();
    return {
      programs,
      providers: rows<Record<string, unknown>>("providers", "*"),
      exports: rows<{ name: string; target: string }>("exports", "name, target"),
      operators: rows<Record<string, unknown>>("users", "*")
        .filter((row) => row["is_operator"] === 1)
        .map(({ email }) => String(email)),
    };
  } finally {
    raw.close();
  }
}
