import type { KeyRecord, KeyStore } from "../keys/directory.ts";
import { announce } from "./feed-store.ts";
import { fromLimits, toLimits } from "./limits-text.ts";
import type { Db, Tables } from "./schema.ts";

export function createKeyStore(db: Db): KeyStore {
  return {
    async all() {
      const rows = await db.selectFrom("keys").selectAll().orderBy("id").execute();
      return rows.map(toRecord);
    },
    async get(id) {
      const row = await db.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : toRecord(row);
    },
    async insert(record) {
      await db.transaction().execute(async (transaction) => {
        await transaction.insertInto("keys").values(fromRecord(record)).execute();
        await announce(transaction, { topic: "keys", subject: record.id });
      });
    },
    async setLimits(id, limits) {
      await db.transaction().execute(async (transaction) => {
        await transaction
          .updateTable("keys")
          .set({ limits: fromLimits(limits) })
          .where("id", "=", id)
          .execute();
        await announce(transaction, { topic: "keys", subject: id });
      });
    },
    revoke(id, atMs) {
      return db.transaction().execute(async (transaction) => {
        const known = await transaction
          .selectFrom("keys")
          .select("id")
          .where("id", "=", id)
          .executeTakeFirst();
        if (known === undefined) return false;
        await transaction
          .updateTable("keys")
          .set({ revoked_at_ms: atMs })
          .where("id", "=", id)
          .where("revoked_at_ms", "is", null)
          .execute();
        await announce(transaction, { topic: "keys", subject: id });
        return true;
      });
    },
  };
}

function toRecord(row: Tables["keys"]): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    ...(row.models === null ? {} : { models: new Set<string>(JSON.parse(row.models)) }),
    createdAtMs: row.created_at_ms,
    ...(row.expires_at_ms === null ? {} : { expiresAtMs: row.expires_at_ms }),
    ...(row.revoked_at_ms === null ? {} : { revokedAtMs: row.revoked_at_ms }),
    ...toLimits(row.limits),
  };
}

function fromRecord(record: KeyRecord): Tables["keys"] {
  return {
    id: record.id,
    account_id: record.accountId,
    name: record.name,
    hash: record.hash,
    hint: record.hint,
    models: record.models === undefined ? null : JSON.stringify([...record.models]),
    created_at_ms: record.createdAtMs,
    expires_at_ms: record.expiresAtMs ?? null,
    revoked_at_ms: record.revokedAtMs ?? null,
    limits: fromLimits(record.limits),
  };
}
