import { type RawBuilder, sql } from "kysely";
import { type TextSearch, wordsOf } from "../../base/text-search.ts";

interface SearchedColumns {
  /** Shown, and the order of equals. */
  readonly name: RawBuilder<string>;
  readonly id: RawBuilder<string>;
  /** All that is looked at. */
  readonly text: RawBuilder<string>;
}

/**
 * Rows that have every word, the best first: a name or an id that is the query, then one that begins
 * with it. One pass over the table, which reads no more rows than there are.
 */
export function textSearch({ text }: Pick<TextSearch, "text">, columns: SearchedColumns) {
  const { name, id, text: searched } = columns;
  const wanted = text.trim();
  const has = wordsOf(text).map((word) => anyOf(searched, casesOf(word), (one) => `%${one}%`));
  const is = (suffix: string) =>
    sql`(${anyOf(name, casesOf(wanted), (one) => one + suffix)}
      or ${anyOf(id, [wanted], (one) => one + suffix)})`;
  return {
    matches: has.length === 0 ? sql<boolean>`false` : sql<boolean>`${sql.join(has, sql` and `)}`,
    rank: sql<number>`case when ${is("")} then 0 when ${is("%")} then 1 else 2 end`,
  };
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");

const anyOf = (
  column: RawBuilder<string>,
  cases: readonly string[],
  toPattern: (escapedText: string) => string,
) =>
  sql`(${sql.join(
    cases.map((one) => isLike(column, toPattern(escaped(one)))),
    sql` or `,
  )})`;

/** Not `like` alone: of the databases, one tells upper from lower case in it. */
const isLike = (column: RawBuilder<unknown>, pattern: string) =>
  sql<boolean>`lower(${column}) like lower(${pattern}) escape ${"\\"}`;

/** Whatever the case of its ASCII letters. */
export const contains = (column: RawBuilder<unknown>, text: string) =>
  isLike(column, `%${escaped(text)}%`);

/** The databases know upper and lower case of ASCII alone, so other letters are tried in each. */
function casesOf(word: string): readonly string[] {
  if (!/[^\0-\x7f]/.test(word)) return [word];
  const lower = word.toLowerCase();
  const [first = ""] = lower;
  const capitalized = first.toUpperCase() + lower.slice(first.length);
  return [...new Set([word, lower, word.toUpperCase(), capitalized])];
}
