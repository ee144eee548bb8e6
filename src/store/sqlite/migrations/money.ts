import { type Kysely, sql } from "kysely";
import { localNode } from "../../sql/schema.ts";

/** Prices get versions, accounts get money, requests get receipts. */
export async function money(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("accounts").addColumn("suspended_at_ms", "bigint").execute();
  await db.schema.alterTable("accounts").addColumn("limits", "text").execute();
  await db.schema.alterTable("keys").addColumn("limits", "text").execute();
  await db.schema.alterTable("models").addColumn("max_image_tokens", "integer").execute();
  await db.schema.alterTable("models").addColumn("max_audio_seconds", "integer").execute();
  await createPrices(db);
  await createLedger(db);
  await createReceipts(db);
}

async function createPrices(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("prices")
    .addColumn("model_id", "text", (column) => column.notNull().references("models.id"))
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("effective_at_ms", "bigint", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("price", "text")
    .addPrimaryKeyConstraint("prices_key", ["model_id", "version"])
    .execute();
  await sql`insert into prices (model_id, version, effective_at_ms, created_at_ms, price)
    select id, 1, 0, created_at_ms, price from models where price is not null`.execute(db);
  await db.schema.alterTable("models").dropColumn("price").execute();
}

async function createLedger(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("entries")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("nano", "bigint", (column) => column.notNull())
    .addColumn("reference", "text", (column) => column.notNull())
    .addColumn("note", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addUniqueConstraint("entries_reference", ["account_id", "reference"])
    .execute();
  await db.schema
    .createTable("leases")
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("node", "text", (column) => column.notNull())
    .addColumn("epoch", "bigint", (column) => column.notNull())
    .addColumn("granted", "bigint", (column) => column.notNull())
    .addColumn("spent", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("leases_key", ["account_id", "node"])
    .addCheckConstraint("leases_never_overspent", sql`spent >= 0 and spent <= granted`)
    .execute();
  await sql`insert into leases (account_id, node, epoch, granted, spent)
    select id, ${localNode}, 0, 0, 0 from accounts`.execute(db);
  await db.schema
    .createTable("budget_spends")
    .addColumn("owner_id", "text", (column) => column.notNull())
    .addColumn("period_start_ms", "bigint", (column) => column.notNull())
    .addColumn("spent", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("budget_spends_key", ["owner_id", "period_start_ms"])
    .execute();
  await db.schema
    .createTable("claims")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("body_hash", "text", (column) => column.notNull())
    .addColumn("request_id", "text", (column) => column.notNull())
    .addColumn("is_done", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    // The last one: what comes behind a long value is slow to read.
    .addColumn("reply", "blob")
    .execute();
  await db.schema.createIndex("claims_expiry").on("claims").column("expires_at_ms").execute();
}

/**
 * The primary key is the only index of the receipts: two more would cost five times the CPU a row.
 * In it they lie in the order of time, which is how they are read.
 */
async function createReceipts(db: Kysely<unknown>): Promise<void> {
  const whole = ["price_version", "input", "cached_input", "cache_write", "output"];
  const further = ["audio_output", "image", "video_second", "reasoning", "estimated"];
  let receipts = db.schema
    .createTable("receipts")
    .addColumn("id", "text", (column) => column.primaryKey().notNull());
  for (const name of ["account_id", "key_id", "model", "endpoint", "provider", "attempts"])
    receipts = receipts.addColumn(name, "text", (column) => column.notNull());
  for (const name of [...whole, ...further, "hold", "cost", "charged"])
    receipts = receipts.addColumn(name, "bigint", (column) => column.notNull());
  await receipts
    .addColumn("vendor_cost", "bigint")
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("first_byte_ms", "integer")
    .addColumn("duration_ms", "bigint", (column) => column.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
  let rollups = db.schema
    .createTable("rollups")
    .addColumn("hour_ms", "bigint", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("provider", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("rollups_key", [
      "hour_ms",
      "account_id",
      "key_id",
      "model",
      "provider",
    ]);
  for (const name of ["receipts", "failures", "input_tokens", "output_tokens", "vendor_known"])
    rollups = rollups.addColumn(name, "bigint", (column) => column.notNull());
  for (const name of ["cost", "charged", "vendor_cost"])
    rollups = rollups.addColumn(name, "bigint", (column) => column.notNull());
  await rollups.modifyEnd(sql`without rowid`).execute();
}
