import { sql } from "kysely";
import { nextTurn } from "../../base/clock.ts";
import { byDatabase } from "./dialect.ts";
import type { Db, Tables } from "./schema.ts";

/** Read in one turn of the event loop. */
const linesAtOnce = 2_000;

/** In the order of the lines: the first three are what the index of all keys is built from. */
const lineColumns = [
  "hash",
  "id",
  "previous_hash",
  "account_id",
  "name",
  "hint",
  "models",
  "created_at_ms",
  "expires_at_ms",
  "paused_at_ms",
  "created_by",
  "limits",
  "limits_version",
  "previous_hint",
  "previous_expires_at_ms",
] as const satisfies readonly (keyof Tables["keys"])[];

/** The database writes the lines: rows of columns would be a dozen strings per key. */
export async function* readPages(db: Db): AsyncGenerator<Uint8Array> {
  const read = byDatabase<ReadPage>(db, { sqlite: readOfSqlite, postgres: readOfPostgres });
  for (let after: Place | undefined; ; ) {
    const page = await read(db, after);
    if (page === undefined) return;
    yield page.lines;
    after = page.last;
    await nextTurn();
  }
}

/** Of the last key that was read. */
type Place = string | number;

interface Page {
  readonly lines: Uint8Array;
  readonly last: Place;
}
type ReadPage = (db: Db, after: Place | undefined) => Promise<Page | undefined>;

async function readOfSqlite(db: Db, after: Place | undefined): Promise<Page | undefined> {
  const columns = sql.join(lineColumns.map((name) => sql.ref(name)));
  const { rows } = await sql<{ lines: Uint8Array | null; last: number | null }>`
    select cast(group_concat(line, char(10)) as blob) as lines, max(position) as last
    from (
      select rowid as position, json_array(${columns}) as line from keys
      where revoked_at_ms is null and rowid > ${after ?? 0} order by rowid limit ${linesAtOnce})`.execute(
    db,
  );
  return toPage(rows[0]);
}

/** Put together from single values, because an array of JSON would have spaces in it. */
async function readOfPostgres(db: Db, after: Place | undefined): Promise<Page | undefined> {
  const values = sql.join(
    lineColumns.map((name) => sql`coalesce(to_json(${sql.ref(name)})::text, 'null')`),
  );
  const { rows } = await sql<{ lines: string | null; last: string | null }>`
    select string_agg(line, chr(10) order by id) as lines, max(id) as last
    from (
      select id, '[' || concat_ws(',', ${values}) || ']' as line from keys
      where revoked_at_ms is null and id > ${after ?? ""} order by id limit ${linesAtOnce}) as page`.execute(
    db,
  );
  const [page] = rows;
  return toPage(page && { ...page, lines: page.lines === null ? null : Buffer.from(page.lines) });
}

function toPage(
  row: { readonly lines: Uint8Array | null; readonly last: Place | null } | undefined,
): Page | undefined {
  if (row === undefined || row.lines === null || row.last === null) return undefined;
  return { lines: row.lines, last: row.last };
}
