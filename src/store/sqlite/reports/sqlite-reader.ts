import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { SqlReader, SqlWords } from "../../sql/reports/sql-reader.ts";

const idStart = "req_".length;

export const sqliteWords: SqlWords = {
  // The order of a cross join is kept, whatever the planner thinks of it.
  join: "cross join",
  textsOf: "json_each(?)",
  openFrom: "select value from meta where key = 'rollups_open_from_ms'",
  hasMoreIndexes: false,
  smaller: "min",
  larger: "max",
  // Twelve hexadecimal digits, which SQLite has no word for.
  idTime: Array.from({ length: 12 }, (_, at) => {
    const digit = `instr('0123456789abcdef', substr(id, ${idStart + at + 1}, 1)) - 1`;
    return `(${digit}) * ${16 ** (11 - at)}`;
  }).join(" + "),
};

export function createSqliteReader(raw: Database): SqlReader {
  return {
    words: sqliteWords,
    rows: async <T>(sql: string, values: readonly SQLQueryBindings[] = []) =>
      raw.query<T, SQLQueryBindings[]>(sql).all(...values),
    lists: async <T>(sql: string, values: readonly SQLQueryBindings[] = []) =>
      raw.query<unknown, SQLQueryBindings[]>(sql).values(...values) as unknown as T[],
    exactRows: async <T>(sql: string, values: readonly SQLQueryBindings[] = []) =>
      raw
        .query<T, SQLQueryBindings[]>(sql)
        .safeIntegers(true)
        .all(...values),
  };
}
