import type { Value } from "../../sql/reports/sql-reader.ts";

const texts = new Set(["account_id", "key_id", "model", "provider"]);

/**
 * A table `fresh` of these columns out of values that are sent by column: one statement, and one
 * plan, for any number of rows.
 */
export function unnestSql(
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): { readonly sql: string; readonly values: Value[][] } {
  const places = columns.map((name, at) => `$${at + 1}::${texts.has(name) ? "text" : "bigint"}[]`);
  return {
    sql: `unnest(${places.join(", ")}) as fresh(${columns.join(", ")})`,
    values: columns.map((_, at) => rows.map((row) => row[at] ?? null)),
  };
}
