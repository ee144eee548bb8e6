export type Value = string | number | bigint | null;

/**
 * One moment of a database. The place of a value is a `?`. What is written for it is SQL that both
 * databases read alike; where they have no common word, it is in `words`.
 */
export interface SqlReader {
  readonly words: SqlWords;
  rows<T>(sql: string, values?: readonly Value[]): Promise<readonly T[]>;
  /** Each row as a list of its columns. */
  lists<T>(sql: string, values?: readonly Value[]): Promise<readonly T[]>;
  /** Whole numbers are bigints: no digit is lost. */
  exactRows<T>(sql: string, values?: readonly Value[]): Promise<readonly T[]>;
}

export interface SqlWords {
  /** Between two tables, of which the first is few rows that the second is looked up by. */
  readonly join: string;
  /** A table with the column `value`: the texts of a JSON list, in place of a value. */
  readonly textsOf: string;
  /** Selects as `value`, in text, from which hour on sums may lack receipts; null or "" for none. */
  readonly openFrom: string;
  /**
   * Whether there are indexes of receipts by account, of those that failed, and of the sums by day
   * by model.
   */
  readonly hasMoreIndexes: boolean;
  /** Of two values. */
  readonly smaller: string;
  readonly larger: string;
  /** Of a receipt's id: the milliseconds that it begins with. */
  readonly idTime: string;
}
