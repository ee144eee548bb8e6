import { addInConflict, sumColumns } from "../../sql/reports/rollup-columns.ts";
import { sqliteWords as words } from "./sqlite-reader.ts";

/** One row of sums, to what is there. */
export function addRowSql(table: string, keys: readonly string[]): string {
  const columns = [...keys, ...sumColumns];
  return `insert into ${table} (${columns.join(", ")})
    values (${columns.map(() => "?").join(", ")}) ${addInConflict({ table, keys, words })}`;
}
