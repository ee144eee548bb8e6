import type { AuditRecord, Invite, PeopleStore, Session, Token } from "../../../people/store.ts";
import type { Db, Tables } from "../schema.ts";
import { toKind, toRole, toScopes } from "./tables.ts";

/** What people and machines come in with, and what they did. */
export function createPassStore(db: Db) {
  return { ...sessionStore(db), ...inviteStore(db), ...tokenStore(db), ...auditStore(db) };
}

function sessionStore(db: Db) {
  return {
    async addSession(session) {
      await db.insertInto("sessions").values(fromSession(session)).execute();
    },
    async sessionByHash(hash) {
      const row = await db
        .selectFrom("sessions")
        .selectAll()
        .where("hash", "=", hash)
        .executeTakeFirst();
      return row && toSession(row);
    },
    async touchSession(id, lastSeenMs, expiresAtMs) {
      await db
        .updateTable("sessions")
        .set({ last_seen_ms: lastSeenMs, expires_at_ms: expiresAtMs })
        .where("id", "=", id)
        .execute();
    },
    async sessions(userId) {
      const rows = await db
        .selectFrom("sessions")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("last_seen_ms", "desc")
        .execute();
      return rows.map(toSession);
    },
    async endSessions(userId, { id, butNot }) {
      let query = db.deleteFrom("sessions").where("user_id", "=", userId);
      if (id !== undefined) query = query.where("id", "=", id);
      if (butNot !== undefined) query = query.where("id", "!=", butNot);
      return Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
    },
    async eraseExpired(nowMs) {
      await db.deleteFrom("sessions").where("expires_at_ms", "<=", nowMs).execute();
      await db.deleteFrom("invites").where("expires_at_ms", "<=", nowMs).execute();
    },
  } satisfies Partial<PeopleStore>;
}

function inviteStore(db: Db) {
  return {
    async addInvite(invite) {
      await db
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
    },
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
    async removeInvite(id) {
      const { numDeletedRows } = await db
        .deleteFrom("invites")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
    async removeInvites({ kind, userId, createdBy }) {
      let query = db.deleteFrom("invites").where("kind", "=", kind);
      if (userId !== undefined) query = query.where("user_id", "=", userId);
      if (createdBy !== undefined) query = query.where("created_by", "=", createdBy);
      await query.execute();
    },
  } satisfies Partial<PeopleStore>;
}

function tokenStore(db: Db) {
  return {
    async addToken(token) {
      await db
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
    },
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
    async revokeToken(id, atMs) {
      const { numUpdatedRows } = await db
        .updateTable("tokens")
        .set({ revoked_at_ms: atMs })
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  } satisfies Partial<PeopleStore>;
}

function auditStore(db: Db) {
  return {
    async addAudit(record) {
      await db
        .insertInto("audit")
        .values({
          id: record.id,
          at_ms: record.atMs,
          actor_kind: record.actor.kind,
          actor_id: record.actor.id,
          actor_name: record.actor.name,
          account_id: record.accountId ?? null,
          action: record.action,
          subject: record.subject,
          detail: JSON.stringify(record.detail),
          address: record.address,
        })
        .execute();
    },
    async audit({ accountId, action, after, limit }) {
      let query = db.selectFrom("audit").selectAll().orderBy("id", "desc").limit(limit);
      if (accountId !== undefined) query = query.where("account_id", "=", accountId);
      if (action !== undefined) query = query.where("action", "=", action);
      if (after !== undefined) query = query.where("id", "<", after);
      return (await query.execute()).map(toAudit);
    },
  } satisfies Partial<PeopleStore>;
}

function toSession(row: Tables["sessions"]): Session {
  return {
    id: row.id,
    userId: row.user_id,
    hash: row.hash,
    createdAtMs: row.created_at_ms,
    lastSeenMs: row.last_seen_ms,
    expiresAtMs: row.expires_at_ms,
    userAgent: row.user_agent,
    address: row.address,
  };
}

function fromSession(session: Session): Tables["sessions"] {
  return {
    id: session.id,
    user_id: session.userId,
    hash: session.hash,
    created_at_ms: session.createdAtMs,
    last_seen_ms: session.lastSeenMs,
    expires_at_ms: session.expiresAtMs,
    user_agent: session.userAgent,
    address: session.address,
  };
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

function toAudit(row: Tables["audit"]): AuditRecord {
  const kind = (["person", "operator", "token", "command"] as const).find(
    (known) => known === row.actor_kind,
  );
  return {
    id: row.id,
    atMs: row.at_ms,
    actor: { kind: kind ?? "command", id: row.actor_id, name: row.actor_name },
    accountId: row.account_id ?? undefined,
    action: row.action,
    subject: row.subject,
    detail: JSON.parse(row.detail) as Readonly<Record<string, unknown>>,
    address: row.address,
  };
}
