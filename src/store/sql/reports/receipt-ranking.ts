import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Receipt } from "../../../ledger/receipt.ts";
import {
  mostLooked,
  type RankColumn,
  type RankedPage,
  type RankQuery,
  type ReceiptCount,
  type ReceiptFilters,
} from "../../../ledger/reports.ts";
import { type ReceiptRow, toReceipt } from "../ledger/receipt-row.ts";
import { filterOf, type IdRange, piecesOf, rangeOf, withAccount } from "./receipt-reading.ts";

const columnOf: Readonly<Record<RankColumn, "charged" | "duration_ms">> = {
  charged: "charged",
  duration: "duration_ms",
};

/**
 * The largest or smallest, among the newest receipts. Each piece of them gives its own, and these
 * are merged; nothing is kept but one page. Called within one transaction.
 */
export function readRanked(raw: Database, query: RankQuery, most = mostLooked): RankedPage {
  const { by, isAscending = false, after, limit } = query;
  const filters = withAccount<ReceiptFilters>(raw, query);
  const range = rangeOf({ ...filters, ...(after && { after: `${after.newestId} ` }) });
  const newestId = after?.newestId ?? (range && newestOf(raw, range));
  if (range === undefined || newestId === undefined) return { receipts: [], after: undefined };
  const { own, ownValues, rest, restValues } = filterOf(filters);
  const column = columnOf[by];
  const [sign, order] = isAscending ? [">", "asc"] : ["<", "desc"];
  const behind = after === undefined ? "" : ` and (${column}, id) ${sign} (?, ?)`;
  const read = raw
    .query<ReceiptRow, SQLQueryBindings[]>(
      `select * from receipts where id >= ? and id < ?${own}${rest}${behind}
        order by ${column} ${order}, id ${order} limit ?`,
    )
    .safeIntegers(true);
  const values = [
    ...ownValues,
    ...restValues,
    ...(after === undefined ? [] : [after.value, after.id]),
  ];
  // One more tells whether there is another page.
  const wanted = limit + 1;
  let found: readonly ReceiptRow[] = [];
  const window = new Window(raw, most);
  for (const { from, to } of window.pieces(filters, range)) {
    const rows = [...found, ...read.all(from, to, ...values, wanted)];
    found = rows.toSorted(ranking(column, isAscending)).slice(0, wanted);
  }
  const receipts = found.slice(0, limit).map(toReceipt);
  const last = receipts.at(-1);
  const mark = last && { value: valueOf(last, by), id: last.id, newestId };
  return { receipts, after: found.length > limit ? mark : undefined };
}

/** Called within one transaction. */
export function countReceipts(
  raw: Database,
  asked: ReceiptFilters,
  most = mostLooked,
): ReceiptCount {
  const filters = withAccount<ReceiptFilters>(raw, asked);
  const range = rangeOf(filters);
  if (range === undefined) return { count: 0, isCapped: false };
  const { own, ownValues, rest, restValues } = filterOf(filters);
  const read = raw.query<{ count: number }, SQLQueryBindings[]>(
    `select count(*) as count from receipts where id >= ? and id < ?${own}${rest}`,
  );
  const window = new Window(raw, most);
  let count = 0;
  for (const { from, to } of window.pieces(filters, range))
    count += read.get(from, to, ...ownValues, ...restValues)?.count ?? 0;
  return { count, isCapped: window.isCapped };
}

/** The newest receipts, in pieces with some that match: exactly so many, and not one more. */
class Window {
  readonly #raw: Database;
  #left: number;
  #isCapped = false;

  constructor(raw: Database, most: number) {
    this.#raw = raw;
    this.#left = most;
  }

  get isCapped(): boolean {
    return this.#isCapped;
  }

  *pieces(query: ReceiptFilters, range: IdRange): Generator<IdRange> {
    // Of the ids alone, which have an index: the sums may not know of all receipts yet.
    const look = this.#raw.query<{ count: number; first: string | null }, SQLQueryBindings[]>(
      `select count(*) as count, min(id) as first from
        (select id from receipts where id >= ? and id < ? order by id desc limit ?)`,
    );
    const bounds = { atOnce: pieceSize };
    for (const { from, to } of piecesOf(this.#raw, { query, range, bounds })) {
      const { count, first } = look.get(from, to, this.#left) ?? { count: 0, first: null };
      if (first !== null) yield { from: first, to };
      this.#left -= count;
      if (this.#left > 0) continue;
      const older = this.#raw.query("select 1 from receipts where id >= ? and id < ? limit 1");
      this.#isCapped = first !== null && older.get(range.from, first) !== null;
      return;
    }
  }
}

const pieceSize = 20_000;

function newestOf(raw: Database, { from, to }: IdRange): string | undefined {
  const sql = "select max(id) as id from receipts where id >= ? and id < ?";
  return raw.query<{ id: string | null }, [string, string]>(sql).get(from, to)?.id ?? undefined;
}

function ranking(column: "charged" | "duration_ms", isAscending: boolean) {
  const sign = isAscending ? 1 : -1;
  return (one: ReceiptRow, other: ReceiptRow) => {
    if (one[column] !== other[column]) return one[column] < other[column] ? -sign : sign;
    return one.id < other.id ? -sign : sign;
  };
}

const valueOf = ({ charged, durationMs }: Receipt, by: RankColumn) =>
  by === "charged" ? charged : BigInt(durationMs);
