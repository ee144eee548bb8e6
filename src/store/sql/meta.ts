import type { Db } from "./schema.ts";

type MetaKey =
  | "manifest_hash"
  /** `yes` from the upgrade that brought origins until a file has adopted its entries. */
  | "manifest_adopts"
  /** Of the master secret that the store belongs to. */
  | "secret_fingerprint"
  /** Random, created together with the data keys, which are bound to it. */
  | "store_id"
  | "lost_tails"
  | "balances_checked_from_ms"
  | "rollups_open_from_ms"
  | "rollups_folded_to_ms"
  | "rollups_counted_from_ms"
  /** The newest migration that a process must know to work with the schema as it is. */
  | "schema_compatible_from"
  /** The versions of svc that have used the database, the newest last. */
  | "versions"
  /** Of a database that came from a backup: the moments of the backup and of the restore. */
  | "restored_from"
  /** While a copy fills the database: how far it is. */
  | "store_copy"
  /** The source of a copy that is complete. */
  | "store_copied_from";

export async function readMeta(db: Db, key: MetaKey): Promise<string | undefined> {
  const row = await db.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value;
}

export async function writeMeta(db: Db, key: MetaKey, value: string): Promise<void> {
  await db
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}
