import { idFloor } from "../../../base/ids.ts";
import { isBegun, outcomesWith } from "../../../ledger/reply-status.ts";
import type { ReceiptFilters, ReceiptQuery } from "../../../ledger/reports.ts";
import type { SqlReader, SqlWords } from "./sql-reader.ts";

/** A key is of one account: with its name the sums are found sooner. */
export async function withAccount<T extends { readonly accountId?: string | undefined }>(
  reader: SqlReader,
  query: T & { readonly keyId?: string | undefined },
): Promise<T> {
  if (query.accountId !== undefined || query.keyId === undefined) return query;
  const sql = "select account_id from keys where id = ?";
  const [found] = await reader.rows<{ account_id: string }>(sql, [query.keyId]);
  return found === undefined ? query : { ...query, accountId: found.account_id };
}

/** Ids from `from` on, and below `to`. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

/** Behind every id that begins with what stands before it. */
const lastLetter = "\u{10ffff}";

export type Unlimited = Omit<ReceiptQuery, "limit">;

/** Undefined when it is empty. */
export function rangeOf({
  fromMs,
  toMs,
  idPrefix,
  after,
  oldestFirst,
}: Unlimited): IdRange | undefined {
  const starts = [
    "req_",
    ...(fromMs === undefined ? [] : [idFloor("req", fromMs)]),
    ...(idPrefix === undefined ? [] : [idPrefix]),
    // Right behind it: before all that is longer, where it is the beginning of ids.
    ...(after === undefined || oldestFirst !== true ? [] : [`${after} `]),
  ];
  const ends = [
    `req_${lastLetter}`,
    ...(toMs === undefined ? [] : [idFloor("req", toMs)]),
    ...(idPrefix === undefined ? [] : [`${idPrefix}${lastLetter}`]),
    ...(after === undefined || oldestFirst === true ? [] : [after]),
  ];
  const from = starts.reduce((one, other) => (one > other ? one : other));
  const to = ends.reduce((one, other) => (one < other ? one : other));
  return from < to ? { from, to } : undefined;
}

export interface Filter {
  /** On receipts, of columns that they share with the sums by hour. */
  readonly own: string;
  readonly ownValues: readonly string[];
  readonly rest: string;
  readonly restValues: readonly string[];
  /** Whether only receipts that count as failures can match. */
  readonly isOfFailures: boolean;
}

export const failedSql = "outcome not in ('ok', 'left')";

/** Whether an index leads to what is asked for and, but for other failures, to nothing else. */
export function isIndexed(query: ReceiptFilters, words: SqlWords): boolean {
  const { own, ownValues, rest, isOfFailures } = filterOf(query);
  if (own === "" && rest === "") return true;
  if (!words.hasMoreIndexes) return false;
  if (own === "") return isOfFailures;
  return query.accountId !== undefined && ownValues.length === 1 && rest === "";
}

export function filterOf(query: ReceiptFilters): Filter {
  const own = pairsOf([
    ["account_id", query.accountId],
    ["key_id", query.keyId],
    ["model", query.model],
    ["provider", query.provider],
  ]);
  const { outcome, status } = query;
  const isOfFailures =
    (outcome !== undefined && outcome !== "ok" && outcome !== "left") ||
    (status !== undefined && !isBegun(status));
  const ofStatus = statusFilter(status);
  const rest = pairsOf([
    ["endpoint", query.endpoint],
    ["dialect", query.dialect],
    ["outcome", outcome === "failed" ? undefined : outcome],
  ]);
  return {
    own: own.sql,
    ownValues: own.values,
    // Told of every failure: an index has those alone, by the same words.
    rest: `${rest.sql}${ofStatus.sql}${isOfFailures ? ` and ${failedSql}` : ""}`,
    restValues: [...rest.values, ...ofStatus.values],
    isOfFailures,
  };
}

/** As `replyStatus` has it. */
function statusFilter(status: number | undefined) {
  if (status === undefined) return { sql: "", values: [] };
  if (isBegun(status))
    return { sql: " and (outcome = 'ok' or first_byte_ms is not null)", values: [] };
  const outcomes = outcomesWith(status);
  if (outcomes.length === 0) return { sql: " and false", values: [] };
  return {
    sql: ` and first_byte_ms is null and outcome in (${outcomes.map(() => "?").join(", ")})`,
    values: outcomes,
  };
}

function pairsOf(pairs: readonly (readonly [string, string | undefined])[]) {
  const given = pairs.flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  return {
    sql: given.map(({ column }) => ` and ${column} = ?`).join(""),
    values: given.map(({ value }) => value),
  };
}
