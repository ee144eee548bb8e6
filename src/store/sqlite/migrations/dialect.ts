import type { Kysely } from "kysely";

/** Receipts and rejections of calls to chat models name the dialect. */
export async function dialect(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("receipts").addColumn("dialect", "text").execute();
  await db.schema
    .alterTable("rejections")
    .addColumn("dialect", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}
