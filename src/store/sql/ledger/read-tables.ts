import type { LedgerReader } from "../../../ledger/store.ts";
import type { Db } from "../schema.ts";
import { readLimits } from "./limits-text.ts";
import { readCosts, toPrice } from "./price-text.ts";
import { readReceiptMarks } from "./retention.ts";

/** What a reader of the ledger needs to understand receipts. */
export function readTables(
  db: Db,
): Pick<LedgerReader, "prices" | "limits" | "costs" | "accounts" | "keys" | "receiptMarks"> {
  return {
    async prices() {
      const rows = await db.selectFrom("prices").selectAll().execute();
      return rows.map((row) => ({
        modelId: row.model_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        price: row.price === null ? null : toPrice(row.price),
      }));
    },
    async limits() {
      const rows = await db
        .selectFrom("limit_versions")
        .selectAll()
        .orderBy("owner_id")
        .orderBy("version")
        .execute();
      return rows.map((row) => ({
        ownerId: row.owner_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        limits: row.limits === null ? undefined : readLimits(row.limits),
      }));
    },
    async costs() {
      const rows = await db.selectFrom("cost_versions").selectAll().execute();
      return rows.map((row) => ({
        modelId: row.model_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        routes: readCosts(row.routes),
      }));
    },
    receiptMarks: () => readReceiptMarks(db),
    accounts: () => db.selectFrom("accounts").select(["id", "name"]).orderBy("id").execute(),
    keys: () => db.selectFrom("keys").select(["id", "name", "hint"]).orderBy("id").execute(),
  };
}
