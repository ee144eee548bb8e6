import type { Kysely } from "kysely";

/** What people have chosen for themselves, and the views of pages that they saved. */
export async function preferences(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("preferences")
    .addColumn("user_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("time_zone", "text", (column) => column.notNull())
    .addColumn("dismissed", "text", (column) => column.notNull().defaultTo("[]"))
    .execute();
  await db.schema
    .createTable("saved_views")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("user_id", "text", (column) => column.notNull())
    .addColumn("account_id", "text")
    .addColumn("page", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("search", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("saved_views_user").on("saved_views").column("user_id").execute();
}
