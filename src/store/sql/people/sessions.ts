import { mostSessions } from "../../../people/session-policy.ts";
import type { PeopleStore, Session } from "../../../people/store.ts";
import { linkMakers } from "../../../people/user.ts";
import { addAudit, countAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { toFactor } from "./tables.ts";

/** Browsers that have signed in. */
export function sessionStore(db: Db) {
  return {
    addSession: (session, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        await insertSession(transaction, session);
        await addAudit(transaction, audit);
      }),
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
        .orderBy("id", "desc")
        .execute();
      return rows.map(toSession);
    },
    endSessions: ({ userId, id, keep }, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        let query = transaction.deleteFrom("sessions").where("user_id", "=", userId);
        if (id !== undefined) query = query.where("id", "=", id);
        if (keep !== undefined) query = query.where("id", "!=", keep);
        const ended = Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
        if (ended > 0) await addAudit(transaction, audit);
        return ended;
      }),
    countFailedSignIn: (record) =>
      db.transaction().execute((transaction) => countAudit(transaction, record)),
    async eraseExpired(nowMs) {
      await db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        for (const table of ["sessions", "invites", "used_tickets"] as const)
          await transaction.deleteFrom(table).where("expires_at_ms", "<=", nowMs).execute();
      });
    },
  } satisfies Partial<PeopleStore>;
}

/** Creates every session, however the user signed in. Needs the lock "people": it may end others. */
export async function insertSession(transaction: Db, session: Session): Promise<void> {
  const open = await transaction
    .selectFrom("sessions")
    .select("id")
    .where("user_id", "=", session.userId)
    .orderBy("last_seen_ms", "desc")
    .orderBy("id", "desc")
    .execute();
  const ended = open.slice(mostSessions - 1).map(({ id }) => id);
  if (ended.length > 0) await transaction.deleteFrom("sessions").where("id", "in", ended).execute();
  await transaction.insertInto("sessions").values(fromSession(session)).execute();
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
    factor: toFactor(row.factor),
    verifiedAtMs: row.verified_at_ms ?? undefined,
    issuer: row.issuer ?? undefined,
    link: linkMakers.find((maker) => maker === row.link),
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
    factor: session.factor ?? null,
    verified_at_ms: session.verifiedAtMs ?? null,
    issuer: session.issuer ?? null,
    link: session.link ?? null,
  };
}
