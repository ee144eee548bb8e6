import type { DataKeyState, DataKeyStore } from "../../secrets/data-keys.ts";
import { addAudit } from "./audit.ts";
import { byDatabase, lockFor } from "./dialect.ts";
import { readMeta, writeMeta } from "./meta.ts";
import type { Db } from "./schema.ts";

/** On PostgreSQL: versions that do not know it are refused from then on. */
const migration = "0007-data-keys";

export function createDataKeyStore(db: Db): DataKeyStore {
  return {
    read: () => read(db),
    change: (work) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "data keys");
        const change = work(await read(transaction));
        if (change === undefined) return;
        const { storeId, fingerprint, keys, excludesOlder, audit } = change;
        await transaction.deleteFrom("data_keys").execute();
        await transaction
          .insertInto("data_keys")
          .values(
            keys.map((key) => ({
              purpose: key.purpose,
              wrapping: key.wrapping,
              wrapped: key.wrapped,
              created_at_ms: key.createdAtMs,
              wrapped_at_ms: key.wrappedAtMs,
            })),
          )
          .execute();
        await writeMeta(transaction, "store_id", storeId);
        await writeMeta(transaction, "secret_fingerprint", fingerprint);
        if (excludesOlder) await excludeOlder(transaction);
        if (audit !== undefined) await addAudit(transaction, audit);
      }),
  };
}

async function read(db: Db): Promise<DataKeyState> {
  const rows = await db
    .selectFrom("data_keys")
    .selectAll()
    .orderBy("wrapped_at_ms")
    .orderBy("wrapping")
    .orderBy("purpose")
    .execute();
  return {
    storeId: await readMeta(db, "store_id"),
    fingerprint: await readMeta(db, "secret_fingerprint"),
    keys: rows.map((row) => ({
      purpose: row.purpose,
      wrapping: row.wrapping,
      wrapped: row.wrapped,
      createdAtMs: row.created_at_ms,
      wrappedAtMs: row.wrapped_at_ms,
    })),
  };
}

/** They would derive other keys. A version before this one starts on no newer SQLite schema at all. */
export async function excludeOlder(db: Db): Promise<void> {
  await byDatabase(db, {
    sqlite: async () => {},
    postgres: async () => {
      const needed = (await readMeta(db, "schema_compatible_from")) ?? "";
      if (needed < migration) await writeMeta(db, "schema_compatible_from", migration);
    },
  })();
}
