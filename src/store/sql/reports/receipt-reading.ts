import { idFloor, idTimeMs } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { isBegun, outcomesWith } from "../../../ledger/reply-status.ts";
import type { ReceiptFilters, ReceiptPage, ReceiptQuery } from "../../../ledger/reports.ts";
import { dayMs, hourMs, toDay, toHour } from "../../../ledger/rollups.ts";
import { type ReceiptRow, toReceipt } from "../ledger/receipt-row.ts";
import { readFoldMark } from "./fold-mark.ts";
import type { SqlReader } from "./sql-reader.ts";
import { stepsSql } from "./usage-steps.ts";

export interface ReceiptBounds {
  /** A page looks at about so many receipts, and then tells where to go on. */
  readonly maxLooked: number;
  /** So many are looked at in one go. */
  readonly atOnce: number;
}

const usualBounds: ReceiptBounds = { maxLooked: 200_000, atOnce: 20_000 };

/**
 * Receipts have no index but their id, which is their time: the sums by hour serve as one. Only
 * hours that have some of what is asked for are read, and those that are open, whose sums may lack
 * some. Called within one transaction.
 */
export async function readReceipts(
  reader: SqlReader,
  asked: ReceiptQuery,
  bounds = usualBounds,
): Promise<ReceiptPage> {
  const range = rangeOf(asked);
  if (range === undefined) return { receipts: [], after: undefined };
  const query = await withAccount(reader, asked);
  const filter = filterOf(query);
  // One more tells whether there is another page.
  const wanted = query.limit + 1;
  const found: Receipt[] = [];
  let looked = 0;
  for await (const piece of piecesOf(reader, { query, range, bounds })) {
    if (looked > 0 && looked + piece.receipts > bounds.maxLooked)
      return { receipts: found, after: piece.after };
    const limit = Math.min(wanted - found.length, piece.most);
    found.push(...(await readPiece(reader, { query, filter, piece, limit })));
    looked += piece.receipts;
    if (found.length < wanted) continue;
    found.pop();
    return { receipts: found, after: found.at(-1)?.id };
  }
  return { receipts: found, after: undefined };
}

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

export async function readReceipt(reader: SqlReader, id: string): Promise<Receipt | undefined> {
  const [row] = await reader.exactRows<ReceiptRow>("select * from receipts where id = ?", [id]);
  return row && toReceipt(row);
}

/** Ids from `from` on, and below `to`. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

/** Behind every id that begins with what stands before it. */
const lastLetter = "\u{10ffff}";

type Unlimited = Omit<ReceiptQuery, "limit">;

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

interface Filter {
  /** On receipts, of columns that they share with the sums by hour. */
  readonly own: string;
  readonly ownValues: readonly string[];
  readonly rest: string;
  readonly restValues: readonly string[];
  /** Whether only receipts that count as failures can match. */
  readonly isOfFailures: boolean;
}

export function filterOf(query: ReceiptFilters): Filter {
  const own = pairsOf([
    ["account_id", query.accountId],
    ["key_id", query.keyId],
    ["model", query.model],
    ["provider", query.provider],
  ]);
  const { outcome, status } = query;
  const isFailed = outcome === "failed";
  const ofStatus = statusFilter(status);
  const rest = pairsOf([
    ["endpoint", query.endpoint],
    ["outcome", isFailed ? undefined : outcome],
  ]);
  return {
    own: own.sql,
    ownValues: own.values,
    rest: `${rest.sql}${isFailed ? " and outcome not in ('ok', 'left')" : ""}${ofStatus.sql}`,
    restValues: [...rest.values, ...ofStatus.values],
    isOfFailures:
      (outcome !== undefined && outcome !== "ok" && outcome !== "left") ||
      (status !== undefined && !isBegun(status)),
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

interface Piece extends IdRange {
  /** Where a page goes on that ends before this piece. */
  readonly after: string;
  /** How many there are to look at, as far as the sums know. */
  readonly receipts: number;
  /** No more than these can match. */
  readonly most: number;
}

interface Pieces {
  readonly query: Unlimited;
  readonly range: IdRange;
  readonly bounds: Pick<ReceiptBounds, "atOnce">;
}

/** Of an hour with many receipts there are several pieces, and one of neighbors with few. */
export async function* piecesOf(reader: SqlReader, options: Pieces): AsyncGenerator<Piece> {
  const { query, range, bounds } = options;
  const isUp = query.oldestFirst === true;
  for await (const { hour, endMs, receipts, most } of hoursOf(reader, options)) {
    const count = Math.max(1, Math.ceil(receipts / bounds.atOnce));
    const stepMs = (endMs - hour) / count;
    for (let at = 0; at < count; at++) {
      const place = isUp ? at : count - 1 - at;
      const start = idFloor("req", hour + place * stepMs);
      const end = idFloor("req", hour + (place + 1) * stepMs);
      const from = start > range.from ? start : range.from;
      const to = end < range.to ? end : range.to;
      // What was left of the hour may be less.
      if (from >= to) continue;
      const after = isUp ? start : end;
      yield { from, to, after, receipts: receipts / count, most };
    }
  }
}

/** One hour, or several that follow each other. */
interface Hours {
  readonly hour: number;
  readonly endMs: number;
  readonly receipts: number;
  readonly most: number;
}

/** In the order asked for; days and hours are looked up as they are needed. */
async function* hoursOf(
  reader: SqlReader,
  { query, range, bounds }: Pieces,
): AsyncGenerator<Hours> {
  const isUp = query.oldestFirst === true;
  const openMs = await openFromMs(reader);
  const fromMs = toHour(timeOf(range.from, { unknownMs: 0, rest: "0" }));
  const toMs = timeOf(range.to, { unknownMs: Number.MAX_SAFE_INTEGER, rest: "f" });
  const open = await openHours(reader, { fromMs: Math.max(fromMs, openMs), toMs });
  if (!isUp) yield* open.toReversed();
  const closed = { query, fromMs, toMs: Math.min(toMs, openMs - 1) };
  for (const day of await daysOf(reader, closed)) {
    const hours = await closedHours(reader, {
      query,
      fromMs: Math.max(day, fromMs),
      toMs: Math.min(day + dayMs - 1, closed.toMs),
    });
    const joined = joinHours(hours, bounds.atOnce);
    yield* isUp ? joined : joined.toReversed();
  }
  if (isUp) yield* open;
}

interface Span {
  readonly query: Unlimited;
  readonly fromMs: number;
  /** The last moment of it. */
  readonly toMs: number;
}

/** Those days that have some of what is asked for. */
async function daysOf(
  reader: SqlReader,
  { query, fromMs, toMs }: Span,
): Promise<readonly number[]> {
  const { own, ownValues, isOfFailures } = filterOf(query);
  const failed = isOfFailures ? " and failures > 0" : "";
  const { hourMs: foldedMs } = await readFoldMark(reader);
  const firstSql = "select coalesce(min(day_ms), 0) as day from rollup_days";
  const first = (await reader.rows<{ day: number }>(firstSql))[0]?.day ?? 0;
  const span = [Math.max(first, toDay(fromMs)), Math.min(toMs, maxMs)];
  const days = dayRows(query, failed);
  const rows = await reader.rows<{ day: number }>(
    `${days.sql} union
      select distinct hour_ms / ${dayMs} * ${dayMs} from rollups
      where hour_ms >= ? and hour_ms <= ?${own}${failed}
      order by 1 ${query.oldestFirst === true ? "" : "desc"}`,
    [...span, ...days.values, Math.max(fromMs, foldedMs), Math.min(toMs, maxMs), ...ownValues],
  );
  return rows.map(({ day }) => day);
}

/** In the fewest rows that can tell. */
function dayRows(
  query: Unlimited,
  failed: string,
): { readonly sql: string; readonly values: readonly string[] } {
  const { accountId, keyId, provider } = query;
  const { own, ownValues } = filterOf(query);
  const [name, ...more] = ownValues;
  if (more.length === 0 && provider === undefined) {
    const kind = accountId !== undefined ? "account" : keyId !== undefined ? "key" : "model";
    return {
      sql: `select distinct start_ms as day from rollup_totals where grain = 'day'
        and kind = '${kind}' and start_ms >= ? and start_ms <= ?
        ${name === undefined ? "" : "and name = ?"}${failed}`,
      values: ownValues,
    };
  }
  // The key begins with the day, then the account: so one account is found without the others.
  const sql =
    accountId === undefined
      ? `select distinct day_ms as day from rollup_days
          where day_ms >= ? and day_ms <= ?${own}${failed}`
      : `with recursive steps(at) as
          (values (cast(? as bigint)) union all select at + ${dayMs} from steps
            where at + ${dayMs} <= ? and at + ${dayMs} <= (select max(day_ms) from rollup_days))
          select at as day from steps
          where exists (select 1 from rollup_days where day_ms = at${own}${failed})`;
  return { sql, values: ownValues };
}

/** Beyond all times that there are. */
const maxMs = 2 ** 48;

/** The oldest first. */
async function closedHours(
  reader: SqlReader,
  { query, fromMs, toMs }: Span,
): Promise<readonly Hours[]> {
  const { own, ownValues, isOfFailures } = filterOf(query);
  if (fromMs > toMs) return [];
  const rows = await reader.rows<{ hour: number; found: number; receipts: number }>(
    `with recursive ${stepsSql(hourMs)},
    hours(hour, found) as materialized (select at, (
      select coalesce(sum(${isOfFailures ? "failures" : "receipts"}), 0)
      from rollups where hour_ms = at${own}) from steps)
    select hour, found, coalesce(
      (select sum(receipts) from rollup_totals
        where grain = 'hour' and kind = 'model' and start_ms = hour),
      (select sum(receipts) from rollups where hour_ms = hour)) as receipts
    from hours where found > 0 order by hour`,
    [toHour(fromMs), toMs + 1, ...ownValues],
  );
  return rows.map(({ hour, receipts, found }) => ({
    hour,
    endMs: hour + hourMs,
    receipts,
    most: found,
  }));
}

/** Every question takes its time to go to a database on another machine. */
function joinHours(hours: readonly Hours[], atOnce: number): readonly Hours[] {
  const joined: Hours[] = [];
  for (const next of hours) {
    const last = joined.at(-1);
    if (last === undefined || last.endMs !== next.hour || last.receipts + next.receipts > atOnce) {
      joined.push(next);
      continue;
    }
    joined.pop();
    joined.push({
      hour: last.hour,
      endMs: next.endMs,
      receipts: last.receipts + next.receipts,
      most: last.most + next.most,
    });
  }
  return joined;
}

/** Every hour with receipts, from the open ones on: their sums may not know of them yet. */
async function openHours(
  reader: SqlReader,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly Hours[]> {
  const next = "select id from receipts where id >= ? order by id limit 1";
  const known = "select coalesce(sum(receipts), 0) as receipts from rollups where hour_ms = ?";
  const hours: Hours[] = [];
  for (let ms = fromMs; ms <= Math.min(toMs, maxMs); ) {
    const [found] = await reader.rows<{ id: string }>(next, [idFloor("req", ms)]);
    if (found === undefined) break;
    const hour = toHour(idTimeMs(found.id));
    if (hour > toMs) break;
    const [sum] = await reader.rows<{ receipts: number }>(known, [hour]);
    const endMs = hour + hourMs;
    hours.push({ hour, endMs, receipts: sum?.receipts ?? 0, most: Number.POSITIVE_INFINITY });
    ms = endMs;
  }
  return hours;
}

async function openFromMs(reader: SqlReader): Promise<number> {
  const [row] = await reader.rows<{ value: string | null }>(reader.words.openFrom);
  const value = row?.value ?? "";
  return value === "" ? Number.POSITIVE_INFINITY : Number(value);
}

/** The moment that an id begins with, and what to take for digits that are cut off. */
function timeOf(
  id: string,
  { unknownMs, rest }: { readonly unknownMs: number; readonly rest: "0" | "f" },
): number {
  const digits = /^req_([0-9a-f]{1,12})/.exec(id)?.[1];
  return digits === undefined ? unknownMs : Number.parseInt(digits.padEnd(12, rest), 16);
}

async function readPiece(
  reader: SqlReader,
  options: {
    readonly query: ReceiptQuery;
    readonly filter: Filter;
    readonly piece: Piece;
    readonly limit: number;
  },
): Promise<readonly Receipt[]> {
  const { query, filter, piece, limit } = options;
  const { own, ownValues, rest, restValues } = filter;
  const order = query.oldestFirst === true ? "" : "desc";
  const rows = await reader.exactRows<ReceiptRow>(
    `select * from receipts where id >= ? and id < ?${own}${rest} order by id ${order} limit ?`,
    [piece.from, piece.to, ...ownValues, ...restValues, limit],
  );
  return rows.map(toReceipt);
}
