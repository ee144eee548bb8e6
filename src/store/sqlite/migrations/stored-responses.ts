import type { Kysely } from "kysely";

/** Responses that callers can continue by their id, encrypted, and how much each account has. */
export async function storedResponses(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("stored_responses")
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    .addColumn("previous_id", "text")
    .addColumn("size_bytes", "bigint", (column) => column.notNull())
    .addColumn("items_bytes", "bigint", (column) => column.notNull())
    .addColumn("pieces", "integer", (column) => column.notNull())
    .addColumn("is_whole", "integer", (column) => column.notNull())
    // Last: what stands before them is read without them.
    .addColumn("items", "blob", (column) => column.notNull())
    .addColumn("reply", "blob", (column) => column.notNull())
    .addPrimaryKeyConstraint("stored_responses_key", ["account_id", "id"])
    .execute();
  await db.schema
    .createIndex("stored_responses_age")
    .on("stored_responses")
    .columns(["account_id", "created_at_ms", "id"])
    .execute();
  await db.schema
    .createIndex("stored_responses_expiry")
    .on("stored_responses")
    .column("expires_at_ms")
    .execute();
  await db.schema
    .createTable("stored_response_pieces")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("place", "integer", (column) => column.notNull())
    .addColumn("bytes", "blob", (column) => column.notNull())
    .addPrimaryKeyConstraint("stored_response_pieces_key", ["account_id", "id", "place"])
    .addForeignKeyConstraint(
      "stored_response_pieces_row",
      ["account_id", "id"],
      "stored_responses",
      ["account_id", "id"],
    )
    .execute();
  await db.schema
    .createTable("stored_response_totals")
    .addColumn("account_id", "text", (column) =>
      column.primaryKey().notNull().references("accounts.id"),
    )
    .addColumn("responses", "bigint", (column) => column.notNull())
    .addColumn("bytes", "bigint", (column) => column.notNull())
    .execute();
}
