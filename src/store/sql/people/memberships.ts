import type { Transaction } from "kysely";
import type { Membership, MembershipOutcome, PeopleStore } from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { toRole } from "./tables.ts";

type Member = Pick<Membership, "userId" | "accountId">;

/** Who is a member of an account or an operator, and what ends with that. */
export function membershipStore(db: Db) {
  return {
    async memberships(of) {
      const [column, value] =
        "userId" in of
          ? (["user_id", of.userId] as const)
          : (["account_id", of.accountId] as const);
      const rows = await db
        .selectFrom("memberships")
        .selectAll()
        .where(column, "=", value)
        .orderBy("created_at_ms")
        .orderBy("user_id")
        .orderBy("account_id")
        .execute();
      return rows.map(toMembership);
    },
    async allMemberships() {
      return (await db.selectFrom("memberships").selectAll().execute()).map(toMembership);
    },
    setRole: ({ role, isForced, nowMs, ...member }, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const refusal = await whyNot(transaction, member, isForced || role === "owner");
        if (refusal !== undefined) return refusal;
        const { numUpdatedRows } = await transaction
          .updateTable("memberships")
          .set({ role, by_identity: 0, hand_role: null })
          .where("user_id", "=", member.userId)
          .where("account_id", "=", member.accountId)
          .where("role", "!=", role)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) return "done";
        if (role !== "owner") await endMade(transaction, member, nowMs);
        await addAudit(transaction, audit);
        return "done";
      }),
    removeMembership: ({ isForced, nowMs, ...member }, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const refusal = await whyNot(transaction, member, isForced);
        if (refusal !== undefined) return refusal;
        await transaction
          .deleteFrom("memberships")
          .where("user_id", "=", member.userId)
          .where("account_id", "=", member.accountId)
          .execute();
        await endMade(transaction, member, nowMs);
        await addAudit(transaction, audit);
        return "done";
      }),
    removeOperator: (id, nowMs, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const outcome = await removeOperator(transaction, id, nowMs);
        if (outcome === "removed") await addAudit(transaction, audit);
        return outcome;
      }),
  } satisfies Partial<PeopleStore>;
}

/** Asked within the locked transaction that goes on: between a look and a change, another could go. */
async function whyNot(
  transaction: Transaction<Tables>,
  { userId, accountId }: Member,
  mayBeLast: boolean,
): Promise<MembershipOutcome | undefined> {
  const members = await transaction
    .selectFrom("memberships")
    .select(["user_id", "role"])
    .where("account_id", "=", accountId)
    .execute();
  const own = members.find((member) => member.user_id === userId);
  if (own === undefined) return "none";
  const owners = members.filter(({ role }) => role === "owner").length;
  return own.role === "owner" && owners === 1 && !mayBeLast ? "last" : undefined;
}

/** Links and tokens of the account that only an owner could make. */
export async function endMade(
  transaction: Transaction<Tables>,
  { userId, accountId }: Member,
  nowMs: number,
): Promise<void> {
  await transaction
    .deleteFrom("invites")
    .where("created_by_id", "=", userId)
    .where("account_id", "=", accountId)
    .execute();
  await transaction
    .updateTable("tokens")
    .set({ revoked_at_ms: nowMs })
    .where("created_by_id", "=", userId)
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "is", null)
    .execute();
}

async function removeOperator(
  transaction: Transaction<Tables>,
  id: string,
  nowMs: number,
): Promise<"removed" | "last" | "none"> {
  const operators = await transaction
    .selectFrom("users")
    .select("id")
    .where("is_operator", "=", 1)
    .execute();
  if (!operators.some((operator) => operator.id === id)) return "none";
  if (operators.length === 1) return "last";
  await endOperator(transaction, id, nowMs);
  return "removed";
}

/** With the links and tokens that only an operator could make. */
export async function endOperator(
  transaction: Transaction<Tables>,
  id: string,
  nowMs: number,
): Promise<void> {
  await transaction
    .updateTable("users")
    .set({ is_operator: 0, operator_by_identity: 0 })
    .where("id", "=", id)
    .execute();
  const owned = transaction
    .selectFrom("memberships")
    .select("account_id")
    .where("user_id", "=", id)
    .where("role", "=", "owner");
  await transaction
    .deleteFrom("invites")
    .where("created_by_id", "=", id)
    .where((where) =>
      where.or([where("account_id", "is", null), where("account_id", "not in", owned)]),
    )
    .execute();
  await transaction
    .updateTable("tokens")
    .set({ revoked_at_ms: nowMs })
    .where("created_by_id", "=", id)
    .where("revoked_at_ms", "is", null)
    .where((where) =>
      where.or([where("account_id", "is", null), where("account_id", "not in", owned)]),
    )
    .execute();
}

function toMembership(row: Tables["memberships"]): Membership {
  return {
    userId: row.user_id,
    accountId: row.account_id,
    role: toRole(row.role),
    createdAtMs: row.created_at_ms,
    isByIdentity: row.by_identity === 1,
    handRole: row.hand_role === null ? undefined : toRole(row.hand_role),
  };
}
