import { type ClientBase, type CustomTypesConfig, types } from "pg";
import type { SqlReader, SqlWords, Value } from "../../sql/reports/sql-reader.ts";

const idStart = "req_".length;

export const postgresWords: SqlWords = {
  join: "join",
  textsOf: "json_array_elements_text(cast(? as json))",
  openFrom: "select cast(min(open_from_ms) as text) as value from epochs",
  hasMoreIndexes: true,
  smaller: "least",
  larger: "greatest",
  // Twelve hexadecimal digits.
  idTime: `cast(cast('x' || lpad(substr(id, ${idStart + 1}, 12), 16, '0') as bit(64)) as bigint)`,
};

/** Reads within the transaction that the connection is in. */
export function createPostgresReader(client: ClientBase): SqlReader {
  const ask = async (sql: string, values: readonly Value[] = [], rest = {}) => {
    const { rows } = await client.query({
      text: numbered(sql),
      values: values.map(toStorable),
      ...rest,
    });
    return rows;
  };
  return {
    words: postgresWords,
    rows: (sql, values) => ask(sql, values),
    lists: (sql, values) => ask(sql, values, { rowMode: "array" }),
    exactRows: (sql, values) => ask(sql, values, { types: exact }),
  };
}

/** `$1` and so on, for each `?` in its turn. */
export function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll("?", () => `$${++place}`);
}

/** No text of the database has this letter, and it refuses the question for it. */
const toStorable = (value: Value) =>
  typeof value === "string" ? value.replaceAll("\0", "\u{fffd}") : value;

const exact: CustomTypesConfig = {
  getTypeParser: ((oid: number) =>
    oid === types.builtins.INT8
      ? BigInt
      : types.getTypeParser(oid)) as CustomTypesConfig["getTypeParser"],
};
