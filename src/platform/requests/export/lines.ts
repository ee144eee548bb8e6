import { lineEncoder, type RowEncoder } from "../../../exports/part.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { operatorColumns, type ReceiptNames } from "../columns.ts";

/** The version of the fields: one that gets another meaning raises it, a new one does not. */
export const linesVersion = 1;

/** One JSON object per receipt, with the fields of CSV and Parquet; amounts are decimal text. */
export const receiptLines = (names: ReceiptNames): RowEncoder<Receipt> =>
  lineEncoder((receipt) => ({ version: linesVersion, ...toObject(receipt, names) }));

function toObject(receipt: Receipt, names: ReceiptNames): Readonly<Record<string, unknown>> {
  const cells = operatorColumns.cells(receipt, names);
  return Object.fromEntries(operatorColumns.names.map((name, at) => [name, cells[at]]));
}
