import { firstStart, type Invite, type PeopleStore } from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { toKind, toRole } from "./tables.ts";

/** Links that work once. */
export function inviteStore(db: Db) {
  return {
    addInvite: (invite, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        await removeEarlier(transaction, invite);
        await transaction
          .insertInto("invites")
          .values({
            id: invite.id,
            hash: invite.hash,
            kind: invite.kind,
            email: invite.email ?? null,
            user_id: invite.userId ?? null,
            account_id: invite.accountId ?? null,
            role: invite.role ?? null,
            created_by: invite.createdBy,
            created_by_id: invite.createdById,
            created_at_ms: invite.createdAtMs,
            expires_at_ms: invite.expiresAtMs,
          })
          .execute();
        await addAudit(transaction, audit);
      }),
    async inviteByHash(hash) {
      const row = await db
        .selectFrom("invites")
        .selectAll()
        .where("hash", "=", hash)
        .executeTakeFirst();
      return row && toInvite(row);
    },
    async invites(accountId) {
      const all = db.selectFrom("invites").selectAll().orderBy("id", "desc");
      const rows = await (accountId === undefined
        ? all.where("account_id", "is", null)
        : all.where("account_id", "=", accountId)
      ).execute();
      return rows.map(toInvite);
    },
    async allInvites() {
      const rows = await db.selectFrom("invites").selectAll().orderBy("id", "desc").execute();
      return rows.map(toInvite);
    },
    removeInvite: (id, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const { numDeletedRows } = await transaction
          .deleteFrom("invites")
          .where("id", "=", id)
          .executeTakeFirstOrThrow();
        if (numDeletedRows === 1n) await addAudit(transaction, audit);
        return numDeletedRows === 1n;
      }),
  } satisfies Partial<PeopleStore>;
}

/** For a new password, and for the first operator, only the newest link works. */
async function removeEarlier(transaction: Db, { kind, userId, createdBy }: Invite): Promise<void> {
  if (kind === "reset" && userId !== undefined) await removeResets(transaction, userId);
  if (createdBy === firstStart)
    await transaction.deleteFrom("invites").where("created_by", "=", firstStart).execute();
}

export async function removeResets(transaction: Db, userId: string): Promise<void> {
  await transaction
    .deleteFrom("invites")
    .where("kind", "=", "reset")
    .where("user_id", "=", userId)
    .execute();
}

function toInvite(row: Tables["invites"]): Invite {
  return {
    id: row.id,
    hash: row.hash,
    kind: toKind(row.kind),
    email: row.email ?? undefined,
    userId: row.user_id ?? undefined,
    accountId: row.account_id ?? undefined,
    role: row.role === null ? undefined : toRole(row.role),
    createdBy: row.created_by,
    createdById: row.created_by_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
  };
}
