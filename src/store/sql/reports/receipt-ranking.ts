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
import { filterOf, type IdRange, isIndexed, rangeOf, withAccount } from "./receipt-filter.ts";
import { piecesOf } from "./receipt-pieces.ts";
import type { SqlReader } from "./sql-reader.ts";

const columnOf: Readonly<Record<RankColumn, "charged" | "duration_ms">> = {
  charged: "charged",
  duration: "duration_ms",
};

/**
 * The largest or smallest, among the newest receipts. Each piece of them gives its own, and these
 * are merged; nothing is kept but one page. Called within one transaction.
 */
export async function readRanked(
  reader: SqlReader,
  query: RankQuery,
  most = mostLooked,
): Promise<RankedPage> {
  const { by, isAscending = false, after, limit } = query;
  const filters = await withAccount<ReceiptFilters>(reader, query);
  const range = rangeOf({ ...filters, ...(after && { after: `${after.newestId} ` }) });
  const newestId = after?.newestId ?? (range && (await newestOf(reader, range)));
  if (range === undefined || newestId === undefined) return { receipts: [], after: undefined };
  const { own, ownValues, rest, restValues } = filterOf(filters);
  const column = columnOf[by];
  const [sign, order] = isAscending ? [">", "asc"] : ["<", "desc"];
  const behind = after === undefined ? "" : ` and (${column}, id) ${sign} (?, ?)`;
  const sql = `select * from receipts where id >= ? and id < ?${own}${rest}${behind}
    order by ${column} ${order}, id ${order} limit ?`;
  const values = [
    ...ownValues,
    ...restValues,
    ...(after === undefined ? [] : [after.value, after.id]),
  ];
  // One more tells whether there is another page.
  const wanted = limit + 1;
  let found: readonly ReceiptRow[] = [];
  const window = new Window(reader, most);
  for await (const { from, to } of window.pieces(filters, range)) {
    const fresh = await reader.exactRows<ReceiptRow>(sql, [from, to, ...values, wanted]);
    found = [...found, ...fresh].toSorted(ranking(column, isAscending)).slice(0, wanted);
  }
  const receipts = found.slice(0, limit).map(toReceipt);
  const last = receipts.at(-1);
  const mark = last && { value: valueOf(last, by), id: last.id, newestId };
  return { receipts, after: found.length > limit ? mark : undefined };
}

/** Called within one transaction. */
export async function countReceipts(
  reader: SqlReader,
  asked: ReceiptFilters,
  most = mostLooked,
): Promise<ReceiptCount> {
  const filters = await withAccount<ReceiptFilters>(reader, asked);
  const range = rangeOf(filters);
  if (range === undefined) return { count: 0, isCapped: false };
  const { own, ownValues, rest, restValues } = filterOf(filters);
  const sql = `select count(*) as count from receipts where id >= ? and id < ?${own}${rest}`;
  const window = new Window(reader, most);
  let count = 0;
  for await (const { from, to } of window.pieces(filters, range)) {
    const values = [from, to, ...ownValues, ...restValues];
    const [row] = await reader.rows<{ count: number }>(sql, values);
    count += row?.count ?? 0;
  }
  return { count, isCapped: window.isCapped };
}

/** The newest receipts, in pieces with some that match: exactly so many, and not one more. */
class Window {
  readonly #reader: SqlReader;
  #left: number;
  #isCapped = false;

  constructor(reader: SqlReader, most: number) {
    this.#reader = reader;
    this.#left = most;
  }

  get isCapped(): boolean {
    return this.#isCapped;
  }

  async *pieces(query: ReceiptFilters, range: IdRange): AsyncGenerator<IdRange> {
    // Of one account, hours without any are left out: its newest lie further back than those of all.
    const isDirect = query.accountId === undefined && isIndexed(query, this.#reader.words);
    // Of the ids alone, which have an index: the sums may not know of all receipts yet.
    const look = `select count(*) as count, min(id) as first from (select id from receipts
      where id >= ? and id < ? order by id desc limit ?) as newest`;
    const older = `select 1 as found from receipts where id >= ? and id < ? limit 1`;
    const bounds = { atOnce: pieceSize };
    const pieces = isDirect ? [range] : piecesOf(this.#reader, { query, range, bounds });
    for await (const { from, to } of pieces) {
      const [{ count, first } = { count: 0, first: null }] = await this.#reader.rows<{
        count: number;
        first: string | null;
      }>(look, [from, to, this.#left]);
      if (first !== null) yield { from: first, to };
      this.#left -= count;
      if (this.#left > 0) continue;
      this.#isCapped =
        first !== null && (await this.#reader.rows(older, [range.from, first])).length > 0;
      return;
    }
  }
}

const pieceSize = 20_000;

async function newestOf(reader: SqlReader, { from, to }: IdRange): Promise<string | undefined> {
  const sql = "select max(id) as id from receipts where id >= ? and id < ?";
  const [row] = await reader.rows<{ id: string | null }>(sql, [from, to]);
  return row?.id ?? undefined;
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
