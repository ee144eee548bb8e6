import { sql, type Transaction } from "kysely";
import { covers } from "../../../people/role.ts";
import {
  type Acceptance,
  type AcceptOutcome,
  firstStart,
  type Membership,
  type NewPassword,
  type PeopleStore,
} from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { textSearch } from "../text-search.ts";
import { factorStore } from "./factors.ts";
import { identityStore } from "./identities.ts";
import { inviteStore, removeResets } from "./invites.ts";
import { membershipStore } from "./memberships.ts";
import { preferencesStore } from "./preferences.ts";
import { outcomeOf, useUp } from "./proofs.ts";
import { insertSession, sessionStore } from "./sessions.ts";
import { toRole } from "./tables.ts";
import { tokenStore } from "./tokens.ts";
import { fromUser, toUser } from "./users.ts";

export function createPeopleStore(db: Db): PeopleStore {
  return {
    ...userStore(db),
    ...membershipStore(db),
    ...sessionStore(db),
    ...inviteStore(db),
    ...tokenStore(db),
    ...preferencesStore(db),
    ...factorStore(db),
    ...identityStore(db),
    // Thrown, since only that takes the whole transaction back.
    accept: (acceptance, audit) =>
      outcomeOf(
        db.transaction().execute(async (transaction) => {
          await lockFor(transaction, "people");
          const outcome = await accept(transaction, acceptance);
          if (outcome === "accepted") await addAudit(transaction, audit);
          return outcome;
        }),
      ).catch((error: unknown) => {
        if (error instanceof NotAccepted) return error.outcome;
        throw error;
      }),
  };
}

function userStore(db: Db) {
  return {
    async user(id) {
      const row = await db.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toUser(row);
    },
    async userByEmail(email) {
      const row = await db
        .selectFrom("users")
        .selectAll()
        .where("email", "=", email)
        .executeTakeFirst();
      return row && toUser(row);
    },
    async users() {
      const rows = await db.selectFrom("users").selectAll().orderBy("id").execute();
      return rows.map(toUser);
    },
    async search({ accountId, ...wanted }) {
      const name = sql<string>`case when name = '' then email else name end`;
      const { matches, rank } = textSearch(wanted, {
        name,
        id: sql`id`,
        text: sql`name || ' ' || id || ' ' || email`,
      });
      let query = db.selectFrom("users").selectAll().where(matches);
      if (accountId !== undefined)
        query = query.where("id", "in", (members) =>
          members.selectFrom("memberships").select("user_id").where("account_id", "=", accountId),
        );
      const rows = await query
        .orderBy(rank)
        .orderBy(sql`lower(${name})`)
        .orderBy("id")
        .limit(wanted.limit)
        .execute();
      return rows.map(toUser);
    },
    async countOperators() {
      const rows = await db.selectFrom("users").select("id").where("is_operator", "=", 1).execute();
      return rows.length;
    },
    rename: (id, name, audit) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("users")
          .set({ name })
          .where("id", "=", id)
          .where("name", "!=", name)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 1n) await addAudit(transaction, audit);
      }),
    setPassword: (change, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        await setPassword(transaction, change);
        await addAudit(transaction, audit);
      }),
  } satisfies Partial<PeopleStore>;
}

class NotAccepted extends Error {
  readonly outcome: AcceptOutcome;

  constructor(outcome: AcceptOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Whoever knew the old password is out. */
async function setPassword(transaction: Transaction<Tables>, change: NewPassword): Promise<void> {
  const { userId, passwordHash, keepSession = "" } = change;
  await transaction
    .updateTable("users")
    .set({ password_hash: passwordHash })
    .where("id", "=", userId)
    .execute();
  await transaction
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .where("id", "!=", keepSession)
    .execute();
  await removeResets(transaction, userId);
}

async function accept(
  transaction: Transaction<Tables>,
  acceptance: Acceptance,
): Promise<AcceptOutcome> {
  const { inviteId, addUser, makeOperator, addMembership, newPassword, addSession, proof } =
    acceptance;
  // Whoever takes the row away has the link; of two at once the other finds nothing.
  const { numDeletedRows } = await transaction
    .deleteFrom("invites")
    .where("id", "=", inviteId)
    .executeTakeFirstOrThrow();
  if (numDeletedRows !== 1n) return "used";
  if (proof !== undefined) await useUp(transaction, proof);
  if (addUser !== undefined) {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto("users")
      .values(fromUser(addUser))
      .onConflict((conflict) => conflict.column("email").doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n) throw new NotAccepted("email-taken");
  }
  if (makeOperator !== undefined) {
    await transaction
      .updateTable("users")
      .set({ is_operator: 1, operator_by_identity: 0 })
      .where("id", "=", makeOperator)
      .execute();
    await transaction.deleteFrom("invites").where("created_by", "=", firstStart).execute();
  }
  if (newPassword !== undefined) await setPassword(transaction, newPassword);
  if (addMembership !== undefined) await join(transaction, addMembership);
  await insertSession(transaction, addSession);
  return "accepted";
}

/** A link adds to what somebody may do, and never takes from it. */
async function join(
  transaction: Transaction<Tables>,
  { userId, accountId, role, createdAtMs }: Membership,
): Promise<void> {
  const known = await transaction
    .selectFrom("memberships")
    .select(["role", "by_identity", "hand_role"])
    .where("user_id", "=", userId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (known !== undefined && covers(toRole(known.role), role)) {
    // Stays when the identity provider takes its higher role away.
    const isHeld = known.hand_role !== null && covers(toRole(known.hand_role), role);
    if (known.by_identity === 1 && !isHeld)
      await transaction
        .updateTable("memberships")
        .set({ hand_role: role })
        .where("user_id", "=", userId)
        .where("account_id", "=", accountId)
        .execute();
    return;
  }
  await transaction
    .insertInto("memberships")
    .values({
      user_id: userId,
      account_id: accountId,
      role,
      created_at_ms: createdAtMs,
      by_identity: 0,
      hand_role: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["user_id", "account_id"])
        .doUpdateSet({ role, by_identity: 0, hand_role: null }),
    )
    .execute();
}
