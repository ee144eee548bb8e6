import type { ClientBase } from "pg";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { receiptColumns, receiptValues } from "../../src/store/sql/ledger/receipt-values.ts";

const columns = [...receiptColumns, "epoch"];

/** Rows as a commit leaves them, and nothing else of it. */
export async function insertReceipts(
  pool: Pick<ClientBase, "query">,
  { epoch, receipts }: { readonly epoch: number; readonly receipts: readonly Receipt[] },
): Promise<void> {
  const rows = receipts.map((receipt) => {
    const values = [...receiptValues(receipt), epoch];
    return Object.fromEntries(columns.map((name, at) => [name, values[at]]));
  });
  await pool.query(
    `insert into receipts (${columns.join(", ")})
      select ${columns.join(", ")} from json_populate_recordset(null::receipts, $1)`,
    // Money as text: it is cast to what the column is.
    [JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))],
  );
}
