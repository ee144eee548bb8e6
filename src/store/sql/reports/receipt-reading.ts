import type { Receipt } from "../../../ledger/receipt.ts";
import type { ReceiptPage, ReceiptQuery } from "../../../ledger/reports.ts";
import { type ReceiptRow, toReceipt } from "../ledger/receipt-row.ts";
import { type Filter, filterOf, isIndexed, rangeOf, withAccount } from "./receipt-filter.ts";
import { type Piece, piecesOf } from "./receipt-pieces.ts";
import type { SqlReader } from "./sql-reader.ts";

export interface ReceiptBounds {
  /** A page looks at about so many receipts, and then tells where to go on. */
  readonly maxLooked: number;
  /** So many are looked at in one go. */
  readonly atOnce: number;
}

const usualBounds: ReceiptBounds = { maxLooked: 200_000, atOnce: 20_000 };

/**
 * Receipts have few indexes beside their id, which is their time: else the sums by hour serve as
 * one. Only hours that have some of what is asked for are read, and those that are open, whose sums
 * may lack some. Called within one transaction.
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
  const pieces = isIndexed(query, reader.words)
    ? [{ ...range, after: "", receipts: 0, most: Number.POSITIVE_INFINITY }]
    : piecesOf(reader, { query, range, bounds });
  for await (const piece of pieces) {
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

export async function readReceipt(reader: SqlReader, id: string): Promise<Receipt | undefined> {
  const [row] = await reader.exactRows<ReceiptRow>("select * from receipts where id = ?", [id]);
  return row && toReceipt(row);
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
