import type { Database, SQLQueryBindings } from "bun:sqlite";
import { idFloor, idTimeMs } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { isBegun, outcomesWith } from "../../../ledger/reply-status.ts";
import type { ReceiptFilters, ReceiptPage, ReceiptQuery } from "../../../ledger/reports.ts";
import { dayMs, hourMs, toDay, toHour } from "../../../ledger/rollups.ts";
import { type ReceiptRow, toReceipt } from "../ledger/receipt-row.ts";

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
export function readReceipts(
  raw: Database,
  asked: ReceiptQuery,
  bounds = usualBounds,
): ReceiptPage {
  const range = rangeOf(asked);
  if (range === undefined) return { receipts: [], after: undefined };
  const query = withAccount(raw, asked);
  const filter = filterOf(query);
  // One more tells whether there is another page.
  const wanted = query.limit + 1;
  const found: Receipt[] = [];
  let looked = 0;
  for (const piece of piecesOf(raw, { query, range, bounds })) {
    if (looked > 0 && looked + piece.receipts > bounds.maxLooked)
      return { receipts: found, after: piece.after };
    const limit = Math.min(wanted - found.length, piece.most);
    found.push(...readPiece(raw, { query, filter, piece, limit }));
    looked += piece.receipts;
    if (found.length < wanted) continue;
    found.pop();
    return { receipts: found, after: found.at(-1)?.id };
  }
  return { receipts: found, after: undefined };
}

/** A key is of one account: with its name the sums are found sooner. */
export function withAccount<T extends { readonly accountId?: string | undefined }>(
  raw: Database,
  query: T & { readonly keyId?: string | undefined },
): T {
  if (query.accountId !== undefined || query.keyId === undefined) return query;
  const found = raw
    .query<{ account_id: string }, [string]>("select account_id from keys where id = ?")
    .get(query.keyId);
  return found === null ? query : { ...query, accountId: found.account_id };
}

export function readReceipt(raw: Database, id: string): Receipt | undefined {
  const row = raw
    .query<ReceiptRow, [string]>("select * from receipts where id = ?")
    .safeIntegers(true)
    .get(id);
  return row === null ? undefined : toReceipt(row);
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

/** Of hours with many receipts there are several pieces. */
export function* piecesOf(
  raw: Database,
  options: {
    readonly query: Unlimited;
    readonly range: IdRange;
    readonly bounds: Pick<ReceiptBounds, "atOnce">;
  },
): Generator<Piece> {
  const { query, range, bounds } = options;
  const isUp = query.oldestFirst === true;
  for (const { hour, receipts, most } of hoursOf(raw, query, range)) {
    const count = Math.max(1, Math.ceil(receipts / bounds.atOnce));
    const stepMs = hourMs / count;
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

interface Hour {
  readonly hour: number;
  readonly receipts: number;
  readonly most: number;
}

/** In the order asked for; days and hours are looked up as they are needed. */
function* hoursOf(raw: Database, query: Unlimited, range: IdRange): Generator<Hour> {
  const isUp = query.oldestFirst === true;
  const openMs = openFromMs(raw);
  const fromMs = toHour(timeOf(range.from, { unknownMs: 0, rest: "0" }));
  const toMs = timeOf(range.to, { unknownMs: Number.MAX_SAFE_INTEGER, rest: "f" });
  const open = openHours(raw, { fromMs: Math.max(fromMs, openMs), toMs });
  if (!isUp) yield* open.toReversed();
  const closed = { query, fromMs, toMs: Math.min(toMs, openMs - 1) };
  for (const day of daysOf(raw, closed)) {
    const hours = closedHours(raw, {
      query,
      fromMs: Math.max(day, fromMs),
      toMs: Math.min(day + dayMs - 1, closed.toMs),
    });
    yield* isUp ? hours : hours.toReversed();
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
function daysOf(raw: Database, { query, fromMs, toMs }: Span): readonly number[] {
  const { own, ownValues, isOfFailures } = filterOf(query);
  const failed = isOfFailures ? " and failures > 0" : "";
  const { first, folded } = firstDay(raw);
  const span = [Math.max(first, toDay(fromMs)), Math.min(toMs, maxMs)];
  const days = dayRows(query, failed);
  const rows = raw
    .query<{ day: number }, SQLQueryBindings[]>(
      `${days.sql} union
        select distinct hour_ms / ${dayMs} * ${dayMs} from rollups
        where hour_ms >= ? and hour_ms <= ?${own}${failed}
        order by 1 ${query.oldestFirst === true ? "" : "desc"}`,
    )
    .all(...span, ...days.values, Math.max(fromMs, folded), Math.min(toMs, maxMs), ...ownValues);
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
          (values (?) union all select at + ${dayMs} from steps
            where at + ${dayMs} <= min(?, (select max(day_ms) from rollup_days)))
          select at as day from steps
          where exists (select 1 from rollup_days where day_ms = at${own}${failed})`;
  return { sql, values: ownValues };
}

/** Beyond all times that there are. */
const maxMs = 2 ** 48;

function firstDay(raw: Database): { readonly first: number; readonly folded: number } {
  const sql = `select coalesce((select min(day_ms) from rollup_days), 0) as first,
    coalesce((select cast(value as integer) from meta where key = 'rollups_folded_to_ms'), 0)
      as folded`;
  return raw.query<{ first: number; folded: number }, []>(sql).get() ?? { first: 0, folded: 0 };
}

/** The oldest first. */
function closedHours(raw: Database, { query, fromMs, toMs }: Span): readonly Hour[] {
  const { own, ownValues, isOfFailures } = filterOf(query);
  if (fromMs > toMs) return [];
  const rows = raw
    .query<{ hour: number; found: number; receipts: number }, SQLQueryBindings[]>(
      `with recursive steps(at) as
        (values (?) union all select at + ${hourMs} from steps where at + ${hourMs} <= ?),
      hours(hour, found) as materialized (select at, (
        select coalesce(sum(${isOfFailures ? "failures" : "receipts"}), 0)
        from rollups where hour_ms = at${own}) from steps)
      select hour, found, coalesce(
        (select sum(receipts) from rollup_totals
          where grain = 'hour' and kind = 'model' and start_ms = hour),
        (select sum(receipts) from rollups where hour_ms = hour)) as receipts
      from hours where found > 0 order by hour`,
    )
    .all(toHour(fromMs), toMs, ...ownValues);
  return rows.map(({ hour, receipts, found }) => ({ hour, receipts, most: found }));
}

/** Every hour with receipts, from the open ones on: their sums may not know of them yet. */
function openHours(
  raw: Database,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly Hour[] {
  const next = raw.query<{ id: string }, [string]>(
    "select id from receipts where id >= ? order by id limit 1",
  );
  const known = raw.query<{ receipts: number }, [number]>(
    "select coalesce(sum(receipts), 0) as receipts from rollups where hour_ms = ?",
  );
  const hours: Hour[] = [];
  for (let ms = fromMs; ms <= Math.min(toMs, maxMs); ) {
    const found = next.get(idFloor("req", ms));
    if (found === null) break;
    const hour = toHour(idTimeMs(found.id));
    if (hour > toMs) break;
    const receipts = known.get(hour)?.receipts ?? 0;
    hours.push({ hour, receipts, most: Number.POSITIVE_INFINITY });
    ms = hour + hourMs;
  }
  return hours;
}

function openFromMs(raw: Database): number {
  const sql = "select value from meta where key = 'rollups_open_from_ms'";
  const { value } = raw.query<{ value: string }, []>(sql).get() ?? { value: "" };
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

function readPiece(
  raw: Database,
  options: {
    readonly query: ReceiptQuery;
    readonly filter: Filter;
    readonly piece: Piece;
    readonly limit: number;
  },
): readonly Receipt[] {
  const { query, filter, piece, limit } = options;
  const { own, ownValues, rest, restValues } = filter;
  const order = query.oldestFirst === true ? "" : "desc";
  return raw
    .query<ReceiptRow, SQLQueryBindings[]>(
      `select * from receipts where id >= ? and id < ?${own}${rest} order by id ${order} limit ?`,
    )
    .safeIntegers(true)
    .all(piece.from, piece.to, ...ownValues, ...restValues, limit)
    .map(toReceipt);
}
