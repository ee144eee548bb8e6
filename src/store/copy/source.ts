import { Database, type SQLQueryBindings } from "bun:sqlite";
import { type CopiedTable, copiedMeta, copiedTables } from "./tables.ts";

type Value = string | bigint | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

/** Rows in the order of their key. */
export interface Batch {
  readonly columns: readonly string[];
  /** A JSON array of objects. */
  readonly json: string;
  readonly count: number;
  /** Of each row; empty where the table is no list of receipts. */
  readonly ids: readonly string[];
  /** The key of the last row. */
  readonly last: Position;
}

/** Numbers as text: JSON has none with that many digits. */
export type Position = readonly string[];

const rowsAtOnce = 1_000;
/** Replies that are kept for repeated requests can be large. */
const charactersAtOnce = 4_000_000;

/** One moment of a SQLite database that no other process writes to. */
export class CopySource {
  readonly #raw: Database;
  readonly counts: Readonly<Record<string, number>>;

  constructor(path: string) {
    this.#raw = new Database(path, { readwrite: true, create: false, safeIntegers: true });
    this.#raw.run("PRAGMA query_only = ON");
    this.#raw.run("BEGIN");
    this.counts = Object.fromEntries(
      copiedTables.map(({ name }) => [name, this.#number(`select count(*) as n from ${name}`)]),
    );
  }

  /** Differs when the store has been used in between. */
  stamp(): string {
    const newest = this.#raw
      .query<{ id: string | null }, []>("select max(id) as id from receipts")
      .get();
    return JSON.stringify([this.feedSequence(), newest?.id ?? "", Object.values(this.counts)]);
  }

  feedSequence(): number {
    return this.#number("select sequence as n from feed");
  }

  meta(): ReadonlyMap<string, string> {
    const rows = this.#raw
      .query<{ key: string; value: string }, []>("select key, value from meta")
      .all();
    return new Map(
      rows.filter(({ key }) => copiedMeta.includes(key)).map(({ key, value }) => [key, value]),
    );
  }

  /** All rows behind the position. */
  *batches(table: CopiedTable, after: Position | undefined): Generator<Batch> {
    const { name, key, computed = {} } = table;
    const own = this.#columns(name);
    const columns = [...own, ...Object.keys(computed)];
    const selected = [...own, ...Object.entries(computed).map(([as, sql]) => `${sql} as ${as}`)];
    const condition =
      after === undefined ? "" : `where (${key.join()}) > (${key.map(() => "?").join()})`;
    const statement = this.#raw.prepare<Row, SQLQueryBindings[]>(
      `select ${selected.join()} from ${name} ${condition} order by ${key.join()}`,
    );
    try {
      const from = this.#bind(name, key, after ?? []);
      let rows: Row[] = [];
      let texts: string[] = [];
      let characters = 0;
      for (const row of statement.iterate(...from)) {
        const text = toJson(row);
        rows.push(row);
        texts.push(text);
        characters += text.length;
        if (rows.length < rowsAtOnce && characters < charactersAtOnce) continue;
        yield toBatch({ table, columns, rows, texts });
        rows = [];
        texts = [];
        characters = 0;
      }
      if (rows.length > 0) yield toBatch({ table, columns, rows, texts });
    } finally {
      statement.finalize();
    }
  }

  close(): void {
    this.#raw.close();
  }

  #columns(table: string): readonly string[] {
    return this.#raw
      .query<{ name: string }, []>(`select name from pragma_table_info('${table}') order by cid`)
      .all()
      .map(({ name }) => name);
  }

  /** As numbers where the column has numbers: SQLite sorts these before all texts. */
  #bind(table: string, key: readonly string[], position: Position): (string | bigint)[] {
    if (position.length === 0) return [];
    const types = new Map(
      this.#raw
        .query<{ name: string; type: string }, []>(
          `select name, lower(type) as type from pragma_table_info('${table}')`,
        )
        .all()
        .map(({ name, type }) => [name, type]),
    );
    return position.map((text, at) => (types.get(key[at] ?? "") === "text" ? text : BigInt(text)));
  }

  #number(sql: string): number {
    return Number(this.#raw.query<{ n: bigint }, []>(sql).get()?.n ?? 0);
  }
}

function toBatch(of: {
  readonly table: CopiedTable;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly texts: readonly string[];
}): Batch {
  const { table, columns, rows, texts } = of;
  const last = rows.at(-1);
  return {
    columns,
    json: `[${texts.join()}]`,
    count: rows.length,
    ids: table.name === "receipts" ? rows.map((row) => String(row["id"])) : [],
    last: table.key.map((name) => String(last?.[name])),
  };
}

/** PostgreSQL reads digits, texts and hexadecimal bytes by the types of its own columns. */
function toJson(row: Row): string {
  const parts = Object.entries(row).map(
    ([name, value]) => `${JSON.stringify(name)}:${toText(value)}`,
  );
  return `{${parts.join()}}`;
}

function toText(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "string")
    // It stores no NUL, and no half of a character.
    return JSON.stringify(value.toWellFormed().replaceAll("\0", "\ufffd"));
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
  return String(value);
}
