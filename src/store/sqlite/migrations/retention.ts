import type { Kysely } from "kysely";

/** Receipts may be kept for some days only; sums of days stand for those that are gone. */
export async function retention(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("accounts").addColumn("receipts_days", "integer").execute();
  await db.schema
    .createTable("receipt_marks")
    .addColumn("account_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("kept_from_ms", "bigint", (column) => column.notNull())
    .addColumn("exported_to_ms", "bigint", (column) => column.notNull())
    .addColumn("erased_to_ms", "bigint", (column) => column.notNull())
    .execute();
}
