import type { PeopleStore, Token } from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import type { Db, Tables } from "../schema.ts";
import { toRole, toScopes } from "./tables.ts";

/** What machines come in with. */
export function tokenStore(db: Db) {
  return {
    addToken: (token, audit) =>
      db.transaction().execute(async (transaction) => {
        await transaction
          .insertInto("tokens")
          .values({
            id: token.id,
            name: token.name,
            hash: token.hash,
            hint: token.hint,
            account_id: token.accountId ?? null,
            role: token.role,
            scopes: JSON.stringify(token.scopes),
            created_by: token.createdBy,
            created_by_id: token.createdById,
            created_at_ms: token.createdAtMs,
            expires_at_ms: token.expiresAtMs ?? null,
            revoked_at_ms: token.revokedAtMs ?? null,
          })
          .execute();
        await addAudit(transaction, audit);
      }),
    async tokenByHash(hash) {
      const row = await db
        .selectFrom("tokens")
        .selectAll()
        .where("hash", "=", hash)
        .executeTakeFirst();
      return row && toToken(row);
    },
    async tokens(accountId) {
      const all = db.selectFrom("tokens").selectAll().orderBy("id", "desc");
      const rows = await (accountId === undefined
        ? all.where("account_id", "is", null)
        : all.where("account_id", "=", accountId)
      ).execute();
      return rows.map(toToken);
    },
    revokeToken: (id, atMs, audit) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("tokens")
          .set({ revoked_at_ms: atMs })
          .where("id", "=", id)
          .where("revoked_at_ms", "is", null)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 1n) await addAudit(transaction, audit);
      }),
  } satisfies Partial<PeopleStore>;
}

function toToken(row: Tables["tokens"]): Token {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    accountId: row.account_id ?? undefined,
    role: row.role === "operator" ? "operator" : toRole(row.role),
    scopes: toScopes(row.scopes),
    createdBy: row.created_by,
    createdById: row.created_by_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms ?? undefined,
    revokedAtMs: row.revoked_at_ms ?? undefined,
  };
}
