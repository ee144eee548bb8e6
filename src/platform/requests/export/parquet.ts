import { fromDateText } from "../../../base/dates.ts";
import { fromUsd } from "../../../base/money.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { operatorColumns, type ReceiptCell, type ReceiptNames } from "../columns.ts";
import type { Encoder } from "./encoder.ts";
import { columnsEncoder, type SchemaElement } from "./parquet-columns.ts";

const texts = new Set([
  "id",
  "account_id",
  "account",
  "key_id",
  "key",
  "model",
  "endpoint",
  "dialect",
  "provider",
  "attempts",
  "outcome",
  "outcome_label",
]);
const flags = new Set(["streamed", "estimated"]);

interface Column {
  readonly element: SchemaElement;
  readonly read: (cell: ReceiptCell) => unknown;
}

/** A billion USD, in billionths: as much as a decimal in 64 bits has. */
const money = { type: "INT64", converted_type: "DECIMAL", scale: 9, precision: 18 } as const;

function toColumn(name: string): Column {
  const element = (type: Omit<SchemaElement, "name">): SchemaElement => ({
    name,
    repetition_type: "OPTIONAL",
    ...type,
  });
  const text = element({ type: "BYTE_ARRAY", converted_type: "UTF8" });
  if (texts.has(name)) return { element: text, read: (cell) => cell };
  if (flags.has(name)) return { element: element({ type: "BOOLEAN" }), read: (cell) => cell };
  if (name === "attempt_list") return { element: text, read: (cell) => JSON.stringify(cell) };
  if (name === "began_at")
    return {
      element: element({ type: "INT64", converted_type: "TIMESTAMP_MILLIS" }),
      read: (cell) => toWhole(fromDateText(String(cell)) ?? null),
    };
  // Written as the whole number it is: a fraction would lose digits.
  if (name.endsWith("_usd"))
    return {
      element: element(money),
      read: (cell) => (cell === null ? null : fromUsd(String(cell))),
    };
  return { element: element({ type: "INT64" }), read: toWhole };
}

const toWhole = (cell: ReceiptCell) => (cell === null ? null : BigInt(Number(cell)));

const columns = operatorColumns.names.map(toColumn);

/** The same columns as CSV. Each call of `add` is a row group. */
export const parquetEncoder = (names: ReceiptNames): Encoder =>
  columnsEncoder({
    name: "receipts",
    columns: columns.map(({ element, read }, at) => ({
      element,
      read: (cells: readonly ReceiptCell[]) => read(cells[at] ?? null),
    })),
    toRow: (receipt: Receipt) => operatorColumns.cells(receipt, names),
  });
