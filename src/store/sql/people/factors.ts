import type { Transaction } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import {
  type Factor,
  mostPasskeys,
  type Passkey,
  type Totp,
  type UsedTicket,
} from "../../../people/factors/store.ts";
import type { PeopleStore } from "../../../people/store.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { NotProven, outcomeOf, useTicket, useUp } from "./proofs.ts";
import { insertSession } from "./sessions.ts";

/** What people prove besides the password. */
export function factorStore(db: Db) {
  return { ...readers(db), ...proofWriters(db), ...totpWriters(db), ...passkeyWriters(db) };
}

function readers(db: Db) {
  return {
    async factors(userId) {
      const totp = await db
        .selectFrom("totps")
        .selectAll()
        .where("user_id", "=", userId)
        .executeTakeFirst();
      const passkeys = await db
        .selectFrom("passkeys")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("created_at_ms")
        .orderBy("id")
        .execute();
      const codes = await db
        .selectFrom("recovery_codes")
        .select("hash")
        .where("user_id", "=", userId)
        .execute();
      return {
        totp: totp && toTotp(totp),
        passkeys: passkeys.map(toPasskey),
        recoveryCodes: codes.length,
      };
    },
    async withFactors() {
      const totps = await db.selectFrom("totps").select("user_id").execute();
      const passkeys = await db.selectFrom("passkeys").select("user_id").distinct().execute();
      return new Set([...totps, ...passkeys].map(({ user_id }) => user_id));
    },
    async passkey(id) {
      const row = await db
        .selectFrom("passkeys")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toPasskey(row);
    },
  } satisfies Partial<PeopleStore>;
}

function proofWriters(db: Db) {
  return {
    beginSession: (session, proof, audit) =>
      outcomeOf(
        db.transaction().execute(async (transaction) => {
          await lockFor(transaction, "people");
          await useUp(transaction, proof);
          await insertSession(transaction, session);
          await addAudit(transaction, audit);
          return "accepted" as const;
        }),
      ),
    verifySession: ({ id, atMs, proof }, audit) =>
      outcomeOf(
        db.transaction().execute(async (transaction) => {
          if (proof !== undefined) await useUp(transaction, proof);
          const { numUpdatedRows } = await transaction
            .updateTable("sessions")
            .set({ verified_at_ms: atMs, ...(proof && { factor: proof.factor }) })
            .where("id", "=", id)
            .executeTakeFirstOrThrow();
          if (numUpdatedRows !== 1n) throw new NotProven("spent");
          await addAudit(transaction, audit);
          return "accepted" as const;
        }),
      ),
    resetFactors: (userId, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        let removed = 0n;
        for (const table of ["totps", "passkeys", "recovery_codes"] as const) {
          const { numDeletedRows } = await transaction
            .deleteFrom(table)
            .where("user_id", "=", userId)
            .executeTakeFirstOrThrow();
          removed += numDeletedRows;
        }
        if (removed === 0n) return false;
        await transaction.deleteFrom("sessions").where("user_id", "=", userId).execute();
        await addAudit(transaction, audit);
        return true;
      }),
  } satisfies Partial<PeopleStore>;
}

function totpWriters(db: Db) {
  return {
    addTotp: ({ totp, ...given }, audit) =>
      addFactor(
        db,
        { ...given, userId: totp.userId, factor: "totp", audit },
        async (transaction) => {
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto("totps")
            .values(fromTotp(totp))
            .onConflict((conflict) => conflict.column("user_id").doNothing())
            .executeTakeFirstOrThrow();
          return numInsertedOrUpdatedRows === 1n ? "added" : "taken";
        },
      ),
    removeTotp: (userId, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const { numDeletedRows } = await transaction
          .deleteFrom("totps")
          .where("user_id", "=", userId)
          .executeTakeFirstOrThrow();
        if (numDeletedRows !== 1n) return false;
        await dropUselessCodes(transaction, userId);
        await addAudit(transaction, audit);
        return true;
      }),
    replaceRecoveryCodes: (userId, hashes, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        if (!(await hasAny(transaction, userId))) return false;
        await transaction.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
        await insertCodes(transaction, userId, hashes);
        await addAudit(transaction, audit);
        return true;
      }),
  } satisfies Partial<PeopleStore>;
}

function passkeyWriters(db: Db) {
  return {
    addPasskey({ passkey, ...given }, audit) {
      const { userId } = passkey;
      return addFactor(db, { ...given, userId, factor: "passkey", audit }, async (transaction) => {
        const known = await transaction
          .selectFrom("passkeys")
          .select("id")
          .where("user_id", "=", userId)
          .execute();
        if (known.length >= mostPasskeys) return "full";
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto("passkeys")
          .values(fromPasskey(passkey))
          .onConflict((conflict) => conflict.column("id").doNothing())
          .executeTakeFirstOrThrow();
        return numInsertedOrUpdatedRows === 1n ? "added" : "taken";
      });
    },
    renamePasskey: ({ userId, id }, name, audit) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("passkeys")
          .set({ name })
          .where("id", "=", id)
          .where("user_id", "=", userId)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 1n) await addAudit(transaction, audit);
        return numUpdatedRows === 1n;
      }),
    removePasskey: ({ userId, id }, audit) =>
      db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "people");
        const { numDeletedRows } = await transaction
          .deleteFrom("passkeys")
          .where("id", "=", id)
          .where("user_id", "=", userId)
          .executeTakeFirstOrThrow();
        if (numDeletedRows !== 1n) return false;
        await dropUselessCodes(transaction, userId);
        await addAudit(transaction, audit);
        return true;
      }),
  } satisfies Partial<PeopleStore>;
}

interface NewFactor {
  readonly userId: string;
  readonly factor: Factor;
  readonly recoveryHashes: readonly string[];
  readonly ticket: UsedTicket;
  readonly sessionId: string;
  readonly audit: AuditRecord;
}

/** Adds a factor. The first one also creates recovery codes and ends all other sessions. */
async function addFactor<Refused extends string>(
  db: Db,
  { userId, factor, recoveryHashes, ticket, sessionId, audit }: NewFactor,
  insert: (transaction: Transaction<Tables>) => Promise<"added" | Refused>,
): Promise<{ readonly hasNewCodes: boolean } | Refused | "ticket-used"> {
  const outcome = await outcomeOf(
    db.transaction().execute(async (transaction) => {
      await lockFor(transaction, "people");
      const isFirst = !(await hasAny(transaction, userId));
      const inserted = await insert(transaction);
      if (inserted !== "added") return inserted;
      await useTicket(transaction, ticket);
      const hasNewCodes = await addFirstCodes(transaction, userId, recoveryHashes);
      if (isFirst) await keepSession(transaction, { userId, sessionId, factor });
      await addAudit(transaction, audit);
      return { hasNewCodes };
    }),
  );
  // A used ticket is the only reason for which this transaction is rolled back.
  return outcome as Exclude<typeof outcome, "spent" | "cloned" | "added">;
}

async function hasAny(transaction: Transaction<Tables>, userId: string): Promise<boolean> {
  for (const table of ["totps", "passkeys"] as const) {
    const row = await transaction
      .selectFrom(table)
      .select("user_id")
      .where("user_id", "=", userId)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return true;
  }
  return false;
}

interface KeptSession {
  readonly userId: string;
  readonly sessionId: string;
  readonly factor: Factor;
}

/** With the first factor: others may have begun a session with the password alone. */
async function keepSession(
  transaction: Transaction<Tables>,
  { userId, sessionId, factor }: KeptSession,
): Promise<void> {
  await transaction
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .where("id", "!=", sessionId)
    .execute();
  await transaction.updateTable("sessions").set({ factor }).where("id", "=", sessionId).execute();
}

async function dropUselessCodes(transaction: Transaction<Tables>, userId: string): Promise<void> {
  if (await hasAny(transaction, userId)) return;
  await transaction.deleteFrom("recovery_codes").where("user_id", "=", userId).execute();
}

/** With the first factor. */
async function addFirstCodes(
  transaction: Transaction<Tables>,
  userId: string,
  hashes: readonly string[],
): Promise<boolean> {
  const known = await transaction
    .selectFrom("recovery_codes")
    .select("hash")
    .where("user_id", "=", userId)
    .limit(1)
    .executeTakeFirst();
  if (known !== undefined) return false;
  await insertCodes(transaction, userId, hashes);
  return true;
}

async function insertCodes(
  transaction: Transaction<Tables>,
  userId: string,
  hashes: readonly string[],
): Promise<void> {
  await transaction
    .insertInto("recovery_codes")
    .values(hashes.map((hash) => ({ user_id: userId, hash })))
    .execute();
}

const toTotp = (row: Tables["totps"]): Totp => ({
  userId: row.user_id,
  sealedSecret: row.sealed_secret,
  lastStep: row.last_step,
  createdAtMs: row.created_at_ms,
});

const fromTotp = (totp: Totp): Tables["totps"] => ({
  user_id: totp.userId,
  sealed_secret: totp.sealedSecret,
  last_step: totp.lastStep,
  created_at_ms: totp.createdAtMs,
});

function toPasskey(row: Tables["passkeys"]): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports) as readonly string[],
    rpId: row.rp_id,
    isBackedUp: row.is_backed_up === 1,
    createdAtMs: row.created_at_ms,
    lastUsedMs: row.last_used_ms ?? undefined,
  };
}

function fromPasskey(passkey: Passkey): Tables["passkeys"] {
  return {
    id: passkey.id,
    user_id: passkey.userId,
    name: passkey.name,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    transports: JSON.stringify(passkey.transports),
    rp_id: passkey.rpId,
    is_backed_up: passkey.isBackedUp ? 1 : 0,
    created_at_ms: passkey.createdAtMs,
    last_used_ms: passkey.lastUsedMs ?? null,
  };
}
