import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { Receipt } from "../../../ledger/receipt.ts";
import { receiptColumns, receiptValues } from "../../sql/ledger/receipt-values.ts";
import { brief, transact } from "../transaction.ts";

/** More than fits into pages that are there already: their table and its indexes must grow. */
const rows = 256;
/** Kind and time of an id; the rest of it is random. */
const idHead = 16;
const randomIdBytes = 8;
const columns = [...receiptColumns, "epoch"].join(", ");

class TakenBack extends Error {}

/** Inserts copies of receipts as a commit does, and takes them back: it fails where that would. */
export async function rehearse(
  pool: Pool,
  epoch: number,
  receipts: readonly Receipt[],
): Promise<void> {
  const copies = Array.from({ length: rows }, (_, at) => toRow(receipts[at % receipts.length]));
  const work = transact(
    pool,
    async (client) => {
      await client.query(
        `insert into receipts (${columns})
          select ${columns} from json_populate_recordset(null::receipts, $1)`,
        [JSON.stringify(copies.map((copy) => ({ ...copy, epoch })))],
      );
      throw new TakenBack();
    },
    brief,
  );
  await work.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
}

/** Money as text: it is cast to what the column is. */
function toRow(receipt: Receipt | undefined): Readonly<Record<string, unknown>> {
  if (receipt === undefined) throw new Error("nothing to rehearse");
  const values = receiptValues(receipt).map((value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const row = Object.fromEntries(receiptColumns.map((name, at) => [name, values[at]]));
  const id = receipt.id.slice(0, idHead) + randomBytes(randomIdBytes).toString("hex");
  return { ...row, id };
}
