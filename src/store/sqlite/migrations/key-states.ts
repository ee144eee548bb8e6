import type { Kysely } from "kysely";

/** Keys can be paused and know who created them; receipts know whether the reply was streamed. */
export async function keyStates(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("keys").addColumn("paused_at_ms", "bigint").execute();
  await db.schema.alterTable("keys").addColumn("created_by", "text").execute();
  await db.schema.alterTable("receipts").addColumn("is_streamed", "integer").execute();
}
