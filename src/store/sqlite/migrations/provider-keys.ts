import type { Kysely } from "kysely";

/** Several keys for one provider, a pause, and what is known of each target. */
export async function providerKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("providers").addColumn("keys", "text").execute();
  await db.schema
    .alterTable("providers")
    .addColumn("paused", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable("target_checks")
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("key_name", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("ok", "integer", (column) => column.notNull())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("target_checks_key", ["provider", "key_name", "model"])
    .execute();
  await db.schema
    .createTable("provider_failures")
    .addColumn("hour_ms", "bigint", (column) => column.notNull())
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("failures", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("provider_failures_key", ["hour_ms", "provider"])
    .execute();
}
