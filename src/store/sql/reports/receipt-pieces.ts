import { idFloor, idTimeMs } from "../../../base/ids.ts";
import { dayMs, hourMs, toDay, toHour } from "../../../ledger/rollups.ts";
import type { TotalGroup } from "../../../ledger/store.ts";
import { readFoldMark } from "./fold-mark.ts";
import { filterOf, type IdRange, type Unlimited } from "./receipt-filter.ts";
import type { SqlReader, Value } from "./sql-reader.ts";
import { stepsSql } from "./usage-steps.ts";

export interface Piece extends IdRange {
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
  /** So many are looked at in one go. */
  readonly bounds: { readonly atOnce: number };
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
  const open = await openHours(reader, { query, fromMs: Math.max(fromMs, openMs), toMs });
  if (!isUp) yield* open.toReversed();
  const closed = { query, fromMs, toMs: Math.min(toMs, openMs - 1) };
  for (const days of growing(await daysOf(reader, closed))) {
    const hours = await closedHours(reader, {
      query,
      fromMs: Math.max(Math.min(...days), fromMs),
      toMs: Math.min(Math.max(...days) + dayMs - 1, closed.toMs),
    });
    const joined = joinHours(hours, bounds.atOnce);
    yield* isUp ? joined : joined.toReversed();
  }
  if (isUp) yield* open;
}

const mostDays = 8;

/** Neighbors at once, one day at first: most pages need no more, and others would ask too often. */
function* growing(days: readonly number[]): Generator<readonly number[]> {
  for (let at = 0, most = 1; at < days.length; most = Math.min(2 * most, mostDays)) {
    const first = days[at] ?? 0;
    const near = days.slice(at, at + most).filter((day) => Math.abs(day - first) < most * dayMs);
    yield near;
    at += near.length;
  }
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
  const { own, ownValues } = filterOf(query);
  const total = totalOf(query);
  const ofTotal = total && `rollup_totals where grain = 'day' and kind = '${total.kind}'`;
  if (ofTotal !== undefined && total?.name === undefined)
    return {
      sql: `select distinct start_ms as day from ${ofTotal}
        and start_ms >= ? and start_ms <= ?${failed}`,
      values: [],
    };
  if (ofTotal === undefined && query.accountId === undefined)
    return {
      sql: `select distinct day_ms as day from rollup_days
        where day_ms >= ? and day_ms <= ?${own}${failed}`,
      values: ownValues,
    };
  // The key begins with the day, then the name: so one is found without the others.
  const found =
    ofTotal === undefined
      ? `rollup_days where day_ms = at${own}`
      : `${ofTotal} and start_ms = at and name = ?`;
  return {
    sql: `with recursive steps(at) as
        (values (cast(? as bigint)) union all select at + ${dayMs} from steps
          where at + ${dayMs} <= ? and at + ${dayMs} <= (select max(day_ms) from rollup_days))
        select at as day from steps where exists (select 1 from ${found}${failed})`,
    values: total?.name === undefined ? ownValues : [total.name],
  };
}

/** Totals that have what is asked for, apart from failures; undefined where none do. */
function totalOf(query: Unlimited): Total | undefined {
  const { accountId, keyId, model, provider } = query;
  if (provider !== undefined) return undefined;
  // A key is of one account.
  if (keyId !== undefined) return model === undefined ? { kind: "key", name: keyId } : undefined;
  if (accountId === undefined) return { kind: "model", name: model };
  return model === undefined ? { kind: "account", name: accountId } : undefined;
}

interface Total {
  readonly kind: TotalGroup;
  /** All where there is none. */
  readonly name?: string | undefined;
}

/** Beyond all times that there are. */
const maxMs = 2 ** 48;

/** The oldest first. */
async function closedHours(
  reader: SqlReader,
  { query, fromMs, toMs }: Span,
): Promise<readonly Hours[]> {
  if (fromMs > toMs) return [];
  const { own, ownValues, isOfFailures } = filterOf(query);
  const { hourMs: foldedMs } = await readFoldMark(reader);
  const column = isOfFailures ? "failures" : "receipts";
  const found = countSql({ column, total: totalOf(query), own, ownValues }, foldedMs);
  const looked = countSql(lookedAt(query, reader), foldedMs);
  const rows = await reader.rows<{ hour: number; found: number; receipts: number }>(
    `with recursive ${stepsSql(hourMs)},
    hours(at, found) as materialized (select at, ${found.sql} from steps)
    select at as hour, found, ${looked.sql} as receipts from hours where found > 0 order by at`,
    [toHour(fromMs), toMs + 1, ...found.values, ...looked.values],
  );
  return rows.map(({ hour, receipts, found }) => ({
    hour,
    endMs: hour + hourMs,
    receipts,
    most: found,
  }));
}

interface Counted {
  readonly column: "receipts" | "failures";
  readonly total: Total | undefined;
  readonly own: string;
  readonly ownValues: readonly string[];
}

/** Which receipts of an hour are looked at to find some. */
function lookedAt({ accountId, ...query }: Unlimited, { words }: SqlReader): Counted {
  const all = { column: "receipts", total: { kind: "model" }, own: "", ownValues: [] } as const;
  if (!words.hasMoreIndexes) return all;
  if (filterOf(query).isOfFailures) return { ...all, column: "failures" };
  if (accountId === undefined) return all;
  const total = { kind: "account", name: accountId } as const;
  return { ...all, total, own: " and account_id = ?", ownValues: [accountId] };
}

/** How many there are in the hour `at`: in the totals, once it is in them. */
function countSql(
  { column, total, own, ownValues }: Counted,
  foldedMs: number,
): { readonly sql: string; readonly values: readonly Value[] } {
  const sum = `select coalesce(sum(${column}), 0)`;
  const inHour = `(${sum} from rollups where hour_ms = at${own})`;
  if (total === undefined) return { sql: inHour, values: ownValues };
  const { kind, name } = total;
  const named = name === undefined ? "" : " and name = ?";
  return {
    sql: `case when at < cast(? as bigint) then (${sum} from rollup_totals
      where grain = 'hour' and kind = '${kind}' and start_ms = at${named}) else ${inHour} end`,
    values: [foldedMs, ...(name === undefined ? [] : [name]), ...ownValues],
  };
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
  { query, fromMs, toMs }: Span,
): Promise<readonly Hours[]> {
  const next = "select id from receipts where id >= ? order by id limit 1";
  const { column, own, ownValues } = lookedAt(query, reader);
  const known = `select coalesce(sum(${column}), 0) as receipts from rollups
    where hour_ms = ?${own}`;
  const hours: Hours[] = [];
  for (let ms = fromMs; ms <= Math.min(toMs, maxMs); ) {
    const [found] = await reader.rows<{ id: string }>(next, [idFloor("req", ms)]);
    if (found === undefined) break;
    const hour = toHour(idTimeMs(found.id));
    if (hour > toMs) break;
    const [sum] = await reader.rows<{ receipts: number }>(known, [hour, ...ownValues]);
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
