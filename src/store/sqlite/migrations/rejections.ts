import { type Kysely, sql } from "kysely";

/** Refused calls: rows for people, sums by minute and hour for charts, and the last one of each key. */
export async function rejections(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("rejections")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("endpoint", "text", (column) => column.notNull())
    .addColumn("status", "integer", (column) => column.notNull())
    .addColumn("code", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createIndex("rejections_by_account")
    .on("rejections")
    .columns(["account_id", "id"])
    .execute();
  for (const table of ["rejection_minutes", "rejection_hours"]) {
    // Its rows are deleted in steps, which needs a rowid.
    await db.schema
      .createTable(table)
      .addColumn("start_ms", "bigint", (column) => column.notNull())
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("code", "text", (column) => column.notNull())
      .addColumn("status", "integer", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, [
        "start_ms",
        "account_id",
        "key_id",
        "model",
        "code",
        "status",
      ])
      .execute();
    await db.schema
      .createIndex(`${table}_by_account`)
      .on(table)
      .columns(["account_id", "start_ms"])
      .execute();
  }
  await db.schema
    .createTable("key_rejections")
    .addColumn("key_id", "text", (column) => column.primaryKey().notNull().references("keys.id"))
    .addColumn("last_ms", "bigint", (column) => column.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
}
