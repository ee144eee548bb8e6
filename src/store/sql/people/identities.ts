import type { Transaction } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import { signOutMark } from "../../../people/factors/tickets.ts";
import type {
  EntryAudits,
  EntryResult,
  Identity,
  IdentityEntry,
  IdentityStore,
  RightsChange,
} from "../../../people/identity/store.ts";
import { type AccountRole, covers } from "../../../people/role.ts";
import { firstStart, type PeopleStore, type User } from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { endMade, endOperator } from "./memberships.ts";
import { addMark, outcomeOf, useTicket } from "./proofs.ts";
import { insertSession } from "./sessions.ts";
import { toRole } from "./tables.ts";
import { fromUser, toUser } from "./users.ts";

/** Who users are at the identity provider. */
export function identityStore(db: Db) {
  return {
    ...identityReads(db),
    enterByIdentity: (entry, audits) => enter(db, entry, audits),
    connectIdentity: (identity, ticket, audit) =>
      outcomeOf(
        db.transaction().execute(async (transaction) => {
          await lockFor(transaction, "people");
          await useTicket(transaction, ticket);
          const isAdded = await insert(transaction, identity);
          if (isAdded) await addAudit(transaction, audit);
          return isAdded ? ("connected" as const) : ("taken" as const);
        }),
      ).then((outcome) =>
        outcome === "connected" || outcome === "taken" ? outcome : "ticket-used",
      ),
    signOutIdentity: (of, toAudit) => signOut(db, of, toAudit),
    disconnectIdentity: (userId, nowMs, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const identity = await transaction
          .deleteFrom("identities")
          .where("user_id", "=", userId)
          .returning(["issuer", "subject"])
          .executeTakeFirst();
        if (identity === undefined) return false;
        await addMark(transaction, signOutMark(identity, nowMs));
        await settleRights(transaction, {
          user: { id: userId },
          grants: { isOperator: false, roles: new Map() },
          nowMs,
        });
        await endSessions(transaction, userId);
        await addAudit(transaction, audit);
        return true;
      }),
  } satisfies Partial<PeopleStore>;
}

function signOut(
  db: Db,
  of: Parameters<IdentityStore["signOutIdentity"]>[0],
  toAudit: (user: User) => AuditRecord,
): Promise<"signed-out" | "ticket-used"> {
  const { issuer, subject, ticket, mark } = of;
  return outcomeOf(
    db.transaction().execute(async (transaction) => {
      await lockFor(transaction, "people");
      await useTicket(transaction, ticket);
      await addMark(transaction, mark);
      const user = await transaction
        .selectFrom("identities")
        .innerJoin("users", "users.id", "identities.user_id")
        .selectAll("users")
        .where("identities.issuer", "=", issuer)
        .where("identities.subject", "=", subject)
        .executeTakeFirst();
      if (user === undefined) return "signed-out" as const;
      const { numDeletedRows } = await transaction
        .deleteFrom("sessions")
        .where("user_id", "=", user.id)
        .where("issuer", "=", issuer)
        .executeTakeFirstOrThrow();
      if (numDeletedRows > 0n) await addAudit(transaction, toAudit(toUser(user)));
      return "signed-out" as const;
    }),
  ).then((outcome) => (outcome === "signed-out" ? outcome : "ticket-used"));
}

function identityReads(db: Db) {
  return {
    async identity({ issuer, subject }) {
      const row = await db
        .selectFrom("identities")
        .selectAll()
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
      return row && toIdentity(row);
    },
    async identityOf(userId) {
      const row = await db
        .selectFrom("identities")
        .selectAll()
        .where("user_id", "=", userId)
        .executeTakeFirst();
      return row && toIdentity(row);
    },
    async withIdentities() {
      const rows = await db.selectFrom("identities").select("user_id").execute();
      return new Set(rows.map((row) => row.user_id));
    },
  } satisfies Partial<PeopleStore>;
}

async function enter(db: Db, entry: IdentityEntry, audits: EntryAudits): Promise<EntryResult> {
  const changes: RightsChange[] = [];
  const outcome = await outcomeOf(
    db.transaction().execute(async (transaction) => {
      await lockFor(transaction, "people");
      await useTicket(transaction, entry.ticket);
      await identify(transaction, entry);
      if (entry.kind === "link") await addAudit(transaction, audits.connected);
      changes.push(...(await settleRights(transaction, entry)));
      for (const change of changes) await addAudit(transaction, audits.changed(change));
      if (!(await hasRights(transaction, entry.user.id))) {
        // Nothing stays open that the provider had opened.
        await endSessions(transaction, entry.user.id);
        return "no-role" as const;
      }
      if (entry.session === undefined) return "entered" as const;
      await insertSession(transaction, entry.session);
      await addAudit(transaction, audits.entered);
      return "entered" as const;
    }),
  ).catch((error: unknown) => {
    if (error instanceof Changed) return "changed" as const;
    throw error;
  });
  return toResult(outcome, changes);
}

/** Takes the whole transaction back. */
class Changed extends Error {}

function toResult(outcome: string, changes: readonly RightsChange[]): EntryResult {
  if (outcome === "entered" || outcome === "no-role" || outcome === "changed")
    return { outcome, changes };
  return { outcome: "ticket-used", changes: [] };
}

/** The identity that the sign-in found must still be as it was, or must still be free. */
async function identify(
  transaction: Transaction<Tables>,
  { kind, identity, user }: IdentityEntry,
): Promise<void> {
  if (kind === "known") {
    const { numUpdatedRows } = await transaction
      .updateTable("identities")
      .set({
        email: identity.email,
        id_token: identity.sealedIdToken ?? null,
        last_used_ms: identity.lastUsedMs,
      })
      .where("issuer", "=", identity.issuer)
      .where("subject", "=", identity.subject)
      .where("user_id", "=", user.id)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw new Changed();
    return;
  }
  if (kind === "create") {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto("users")
      .values(fromUser(user))
      .onConflict((conflict) => conflict.column("email").doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n) throw new Changed();
  } else if (await isOperator(transaction, user.id)) throw new Changed();
  if (!(await insert(transaction, identity))) throw new Changed();
}

/** False: the identity belongs to somebody, or the user has one. */
async function insert(transaction: Transaction<Tables>, identity: Identity): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto("identities")
    .values({
      issuer: identity.issuer,
      subject: identity.subject,
      user_id: identity.userId,
      email: identity.email,
      id_token: identity.sealedIdToken ?? null,
      created_at_ms: identity.createdAtMs,
      last_used_ms: identity.lastUsedMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

interface Settling extends Pick<IdentityEntry, "grants" | "nowMs"> {
  readonly user: { readonly id: string };
}

/**
 * Gives what the groups allow and takes what they once allowed. A role that was given by hand stays:
 * where the groups allow more, it is kept beside theirs.
 */
async function settleRights(
  transaction: Transaction<Tables>,
  settling: Settling,
): Promise<readonly RightsChange[]> {
  const { user, grants } = settling;
  const rows = await transaction
    .selectFrom("memberships")
    .selectAll()
    .where("user_id", "=", user.id)
    .execute();
  const changes: RightsChange[] = [];
  const accounts = new Set([...rows.map((row) => row.account_id), ...grants.roles.keys()]);
  for (const accountId of accounts) {
    const row = rows.find((one) => one.account_id === accountId);
    const change = await settleRole(transaction, { ...settling, accountId, row });
    if (change !== undefined) changes.push(change);
  }
  const operator = await settleOperator(transaction, settling);
  return operator === undefined ? changes : [...changes, operator];
}

async function settleRole(
  transaction: Transaction<Tables>,
  settling: Settling & {
    readonly accountId: string;
    readonly row: Tables["memberships"] | undefined;
  },
): Promise<RightsChange | undefined> {
  const { user, grants, nowMs, accountId, row } = settling;
  const granted = grants.roles.get(accountId);
  const from = row === undefined ? undefined : toRole(row.role);
  const byHand = handRole(row);
  const isByIdentity = granted !== undefined && (byHand === undefined || !covers(byHand, granted));
  const to = isByIdentity ? granted : byHand;
  const member = { userId: user.id, accountId };
  await writeRole(transaction, { ...member, to, isByIdentity, byHand, nowMs });
  if (from === to) return undefined;
  if (from === "owner") await endMade(transaction, member, nowMs);
  return { accountId, from: from ?? null, to: to ?? null };
}

/** What somebody has given the user, apart from the groups. */
function handRole(row: Tables["memberships"] | undefined): AccountRole | undefined {
  if (row === undefined) return undefined;
  if (row.by_identity === 0) return toRole(row.role);
  return row.hand_role === null ? undefined : toRole(row.hand_role);
}

interface RoleRow {
  readonly userId: string;
  readonly accountId: string;
  readonly to: AccountRole | undefined;
  readonly isByIdentity: boolean;
  readonly byHand: AccountRole | undefined;
  readonly nowMs: number;
}

async function writeRole(transaction: Transaction<Tables>, written: RoleRow): Promise<void> {
  const { userId, accountId, to, isByIdentity, byHand, nowMs } = written;
  if (to === undefined) {
    await transaction
      .deleteFrom("memberships")
      .where("user_id", "=", userId)
      .where("account_id", "=", accountId)
      .execute();
    return;
  }
  const values = {
    role: to,
    by_identity: isByIdentity ? 1 : 0,
    hand_role: isByIdentity ? (byHand ?? null) : null,
  };
  await transaction
    .insertInto("memberships")
    .values({ user_id: userId, account_id: accountId, created_at_ms: nowMs, ...values })
    .onConflict((conflict) => conflict.columns(["user_id", "account_id"]).doUpdateSet(values))
    .execute();
}

/** An operator who was made one by hand stays one, so groups can lock nobody out. */
async function settleOperator(
  transaction: Transaction<Tables>,
  { user, grants, nowMs }: Settling,
): Promise<RightsChange | undefined> {
  const row = await transaction
    .selectFrom("users")
    .select(["is_operator", "operator_by_identity"])
    .where("id", "=", user.id)
    .executeTakeFirstOrThrow();
  if (grants.isOperator && row.is_operator === 0) {
    await transaction
      .updateTable("users")
      .set({ is_operator: 1, operator_by_identity: 1 })
      .where("id", "=", user.id)
      .execute();
    await transaction.deleteFrom("invites").where("created_by", "=", firstStart).execute();
    return { from: null, to: "operator" };
  }
  if (grants.isOperator || row.operator_by_identity === 0) return undefined;
  await endOperator(transaction, user.id, nowMs);
  return { from: "operator", to: null };
}

async function isOperator(transaction: Transaction<Tables>, userId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("users")
    .select("is_operator")
    .where("id", "=", userId)
    .executeTakeFirst();
  return row === undefined || row.is_operator === 1;
}

async function hasRights(transaction: Transaction<Tables>, userId: string): Promise<boolean> {
  if (await isOperator(transaction, userId)) return true;
  const row = await transaction
    .selectFrom("memberships")
    .select("account_id")
    .where("user_id", "=", userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function endSessions(transaction: Transaction<Tables>, userId: string): Promise<void> {
  await transaction
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .where("issuer", "is not", null)
    .execute();
}

const toIdentity = (row: Tables["identities"]): Identity => ({
  issuer: row.issuer,
  subject: row.subject,
  userId: row.user_id,
  email: row.email,
  sealedIdToken: row.id_token ?? undefined,
  createdAtMs: row.created_at_ms,
  lastUsedMs: row.last_used_ms,
});
