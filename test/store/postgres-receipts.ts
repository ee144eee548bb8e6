import type { ClientBase } from "pg";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { toAttemptsColumn } from "../../src/store/sql/ledger/attempts.ts";

/** Rows as a commit leaves them, and nothing else of it. */
export async function insertReceipts(
  pool: Pick<ClientBase, "query">,
  { epoch, receipts }: { readonly epoch: number; readonly receipts: readonly Receipt[] },
): Promise<void> {
  const rows = receipts.map((receipt) => toRow(receipt, epoch));
  await pool.query(
    `insert into receipts (${columns.join(", ")})
      select ${columns.join(", ")} from json_populate_recordset(null::receipts, $1)`,
    [JSON.stringify(rows)],
  );
}

const units = [
  "input",
  "cached_input",
  "cache_write",
  "output",
  "audio_output",
  "image",
  "video_second",
] as const;
const columns = [
  "id",
  "account_id",
  "key_id",
  "model",
  "endpoint",
  "provider",
  "attempts",
  "price_version",
  ...units,
  "reasoning",
  "estimated",
  "hold",
  "cost",
  "charged",
  "vendor_cost",
  "outcome",
  "first_byte_ms",
  "duration_ms",
  "epoch",
];

/** Money as text: it is cast to what the column is. */
const toRow = (receipt: Receipt, epoch: number) => ({
  id: receipt.id,
  account_id: receipt.accountId,
  key_id: receipt.keyId,
  model: receipt.model,
  endpoint: receipt.endpoint,
  provider: receipt.provider,
  attempts: toAttemptsColumn(receipt),
  price_version: receipt.priceVersion,
  ...Object.fromEntries(units.map((unit) => [unit, receipt.units[unit] ?? 0])),
  reasoning: receipt.reasoningTokens,
  estimated: receipt.estimated ? 1 : 0,
  hold: String(receipt.hold),
  cost: String(receipt.cost),
  charged: String(receipt.charged),
  vendor_cost: receipt.vendorCost === undefined ? null : String(receipt.vendorCost),
  outcome: receipt.outcome,
  first_byte_ms: receipt.firstByteMs ?? null,
  duration_ms: receipt.durationMs,
  epoch,
});
