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
  /** How many other users there are. */
  readonly people: number;
  /** How many API keys work. */
  readonly keys: number;
}

/** No installation has as many, and what is not read could not be shown. */
const mostRows = 1_000;

/** Writes nothing, and lets views and triggers call no function. */
export async function readForeign(path: string): Promise<ForeignContents> {
  const raw = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    raw.run("PRAGMA trusted_schema = OFF");
    raw.run("PRAGMA query_only = ON");
    const programs = programsOf(raw);
    // What it would compute is not read.
    if (programs.length > 0)
      return {
        programs,
        strange: [],
        providers: [],
        exports: [],
        operators: [],
        people: 0,
        keys: 0,
      };
    const rows = <T extends object>(table: string, columns: string, where = "true") =>
      readRows<T>(raw, { table, columns, where });
    const count = (table: string, where: string): number =>
      hasTable(raw, table)
        ? (raw
            .query<{ count: number }, []>(`select count(*) as count from ${table} where ${where}`)
            .get()?.count ?? 0)
        : 0;
    return {
      programs,
      strange: await strangeObjects(raw, readFacts(path).migrations),
      providers: rows<Record<string, unknown>>("providers", "*"),
      exports: rows<{ name: string; target: string }>("exports", "name, target"),
      operators: rows<{ email: unknown }>("users", "email", "is_operator is not 0").map(
        ({ email }) => String(email),
      ),
      people: count("users", "is_operator is 0"),
      keys: count("keys", "revoked_at_ms is null"),
    };
  } finally {
    raw.close();
  }
}

/** As SQLite sees it: it knows a table by its definition, in any case, and not by its row. */
export const hasTable = (raw: Database, name: string): boolean =>
  raw.query("select 1 from pragma_table_info(?)").get(name) !== null;

/** With the names of columns in lower case, in which SQLite does not tell them apart. */
function readRows<T extends object>(
  raw: Database,
  { table, columns, where }: { readonly [name in "table" | "columns" | "where"]: string },
): readonly T[] {
  if (!hasTable(raw, table)) return [];
  const all = raw
    .query<T, []>(`select ${columns} from ${table} where ${where} limit ${mostRows + 1}`)
    .all();
  if (all.length > mostRows)
    throw new Problem({
      code: "failed",
      message: `The database in the backup has more than ${mostRows} ${table} of a kind that has to be shown, so it was not restored. Use another backup.`,
    });
  return all.map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => [column.toLowerCase(), value]),
      ) as T,
  );
}

/** SQLite runs what the text of a row says, whatever type and name the row has. */
const plainObject = /^create (unique )?(table|index) /i;

/** Tables that SQLite creates itself, and no one else can by a statement. */
const ofSqlite = /^create table sqlite_(sequence|stat\d)\(/i;

function programsOf(raw: Database): readonly string[] {
  const isProgram = ({ type, name, sql }: SchemaRow) =>
    (type !== "table" && type !== "index") ||
    (sql === "" ? type !== "index" : !plainObject.test(sql)) ||
    (/^sqlite_/i.test(name) && sql !== "" && !ofSqlite.test(sql));
  const found = schemaOf(raw).filter(isProgram);
  if (found.length > 0) return found.map(({ type, name }) => `${type} ${name}`);
  const computed = raw.query<{ name: string }, []>(
    `select t.name || '.' || x.name as name from pragma_table_list t, pragma_table_xinfo(t.name) x
     where t.schema = 'main' and x.hidden <> 0`,
  );
  return computed.all().map(({ name }) => `generated column ${name}`);
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

/** By type and name: what creates them. */
const objectsOf = (raw: Database): ReadonlyMap<string, string> =>
  new Map(
    schemaOf(raw)
      .filter(({ name }) => !name.startsWith("sqlite_"))
      .map(({ type, name, sql }) => [`${type} ${name}`, sql]),
  );

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  /** With one space where there are some, and without quotes around words. */
  readonly sql: string;
}

function schemaOf(raw: Database): readonly SchemaRow[] {
  const rows = raw.query<SchemaRow, []>(
    `select cast(type as text) as type, cast(name as text) as name,
     cast(coalesce(sql, '') as text) as sql from sqlite_master`,
  );
  const plain = (sql: string) =>
    sql
      .replaceAll(/"(\w+)"/g, "$1")
      .replaceAll(/\s+/g, " ")
      .replaceAll(/ ?([(),]) ?/g, "$1")
      .toLowerCase();
  return rows.all().map((row) => ({ ...row, sql: plain(row.sql) }));
}
