export type IdPrefix = "req" | "acct" | "key" | "chatcmpl";

/** Time-ordered and unique: a UUIDv7 without its dashes, behind a word that says what it names. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${Bun.randomUUIDv7().replaceAll("-", "")}`;
}
