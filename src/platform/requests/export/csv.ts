import { csvLine } from "../../../base/text/csv.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { operatorColumns, type ReceiptNames } from "../columns.ts";
import type { Encoder } from "./encoder.ts";

/** RFC 4180; amounts are decimal text in USD with all their digits. */
export function csvEncoder(names: ReceiptNames): Encoder {
  const text = new TextEncoder();
  return {
    begin: () => text.encode(csvLine(operatorColumns.names)),
    add: (receipts: readonly Receipt[]) =>
      text.encode(receipts.map((one) => csvLine(operatorColumns.cells(one, names))).join("")),
    end: () => new Uint8Array(),
  };
}
