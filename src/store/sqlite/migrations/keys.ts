import { type Kysely, sql } from "kysely";

/** Keys get a previous secret while they change it, and the moment of their last use. */
export async function keys(db: Kysely<unknown>): Promise<void> {
  for (const name of ["previous_hash", "previous_hint"])
    await db.schema.alterTable("keys").addColumn(name, "text").execute();
  await db.schema.alterTable("keys").addColumn("previous_expires_at_ms", "bigint").execute();
  await db.schema
    .createTable("key_uses")
    .addColumn("key_id", "text", (column) => column.primaryKey().notNull().references("keys.id"))
    .addColumn("last_used_ms", "bigint", (column) => column.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
}
