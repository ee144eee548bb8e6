import { Database } from "bun:sqlite";
import { Problem } from "../../../base/problem.ts";
import { schemaAfter } from "../migrations/migrations.ts";
import { openMemory } from "../sqlite.ts";
import { readFacts } from "./snapshot.ts";

/** What a database that was not written here would make the gateway do. */
export interface ForeignContents {
  /** Triggers, views and virtual tables: the gateway has none, and SQLite would run them. */
  readonly programs: readonly string[];
  /** Tables and indexes that are missing, that no gateway creates, or that differ from its own. */
  readonly strange: readonly string[];
  /** Rows of providers, as they are stored. */
  readonly providers: readonly Readonly<Record<string, unknown>>[];
  /** Rows of exports, paused or not. */
  readonly exports: readonly { readonly name: string; readonly target: string }[];
  /** Emails of users who administer the gateway. */
  readonly operators: readonly string[];
}

/** No installation has as many, and what is not read could not be shown. */
const mostRows = 1_000;

/** Writes nothing, and lets views and triggers call no function. */
export async function readForeign(path: string): Promise<ForeignContents> {
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
    if (programs.length > 0)
      return { programs, strange: [], providers: [], exports: [], operators: [] };
    const rows = <T>(table: string, columns: string, where = "true"): readonly T[] => {
      const has = raw.query("select 1 from sqlite_master where type = 'table' and name = ?");
      if (has.get(table) === null) return [];
      const found = raw.query<T, []>(
        `select ${columns} from ${table} where ${where} limit ${mostRows + 1}`,
      );
      const all = found.all();
      if (all.length <= mostRows) return all;
      throw new Problem({
        code: "failed",
        message: `The database in the backup has more than ${mostRows} ${table} of a kind that has to be shown, so it was not restored. Use another backup.`,
      });
    };
    return {
      programs,
      strange: await strangeObjects(raw, readFacts(path).migrations),
      providers: rows<Record<string, unknown>>("providers", "*"),
      exports: rows<{ name: string; target: string }>("exports", "name, target"),
      operators: rows<{ email: unknown }>("users", "email", "is_operator <> 0").map(({ email }) =>
        String(email),
      ),
    };
  } finally {
    raw.close();
  }
}

/** A table without its constraints would let money be spent twice. */
async function strangeObjects(raw: Database, names: readonly string[]): Promise<readonly string[]> {
  const own = openMemory();
  try {
    await schemaAfter(own.db, names);
    const [found, expected] = [objectsOf(raw), objectsOf(own.raw)];
    const all = new Set([...found.keys(), ...expected.keys()]);
    return [...all].filter((name) => found.get(name) !== expected.get(name)).toSorted();
  } finally {
    await own.db.destroy();
  }
}

/** By type and name: what creates them, without spaces, quotes and case. */
function objectsOf(raw: Database): ReadonlyMap<string, string> {
  const objects = raw.query<{ name: string; sql: string }, []>(
    `select type || ' ' || name as name, coalesce(sql, '') as sql from sqlite_master
     where name not like 'sqlite\\_%' escape '\\'`,
  );
  return new Map(
    objects.all().map(({ name, sql }) => [name, sql.replaceAll(/[\s"`[\]]/g, "").toLowerCase()]),
  );
}
