import type { Transaction } from "kysely";
import type {
  Proof,
  ProofOutcome,
  SignOutMark,
  UsedTicket,
} from "../../../people/factors/store.ts";
import { latestMarkEndMs, markAheadMs } from "../../../people/factors/tickets.ts";
import type { Tables } from "../schema.ts";

/** Takes back the whole transaction of what a proof was to allow. */
export class NotProven extends Error {
  readonly outcome: Exclude<ProofOutcome, "accepted">;

  constructor(outcome: Exclude<ProofOutcome, "accepted">) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Throws unless it was unused: each statement finds its row as no other transaction does. */
export async function useUp(transaction: Transaction<Tables>, proof: Proof): Promise<void> {
  if (proof.ticket !== undefined) await useTicket(transaction, proof.ticket);
  const isUsed = await useFactor(transaction, proof);
  if (!isUsed) throw new NotProven(proof.factor === "passkey" ? "cloned" : "spent");
}

export async function useTicket(
  transaction: Transaction<Tables>,
  { id, expiresAtMs, atMs, voidedBy }: UsedTicket,
): Promise<void> {
  if (voidedBy !== undefined) await checkMark(transaction, voidedBy, atMs);
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto("used_tickets")
    .values({ id, expires_at_ms: expiresAtMs })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) throw new NotProven("ticket-used");
}

/** Needs the lock "people", so that the sign-out either sees the session or stops it. */
async function checkMark(
  transaction: Transaction<Tables>,
  voidedBy: SignOutMark,
  atMs: number,
): Promise<void> {
  const mark = await transaction
    .selectFrom("used_tickets")
    .select("id")
    .where("id", "=", voidedBy.id)
    .where("expires_at_ms", ">=", voidedBy.expiresAtMs)
    .where("expires_at_ms", "<=", latestMarkEndMs(atMs))
    .executeTakeFirst();
  if (mark !== undefined) throw new NotProven("ticket-used");
}

/** An earlier mark of the same user only gets a later end, unless the clock was ahead when it was stored. */
export async function addMark(
  transaction: Transaction<Tables>,
  { id, expiresAtMs }: SignOutMark,
): Promise<void> {
  await transaction
    .insertInto("used_tickets")
    .values({ id, expires_at_ms: expiresAtMs })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ expires_at_ms: expiresAtMs })
        .where((where) =>
          where.or([
            where("used_tickets.expires_at_ms", "<", expiresAtMs),
            where("used_tickets.expires_at_ms", ">", expiresAtMs + markAheadMs),
          ]),
        ),
    )
    .execute();
}

async function useFactor(transaction: Transaction<Tables>, proof: Proof): Promise<boolean> {
  const { userId } = proof;
  if (proof.factor === "totp") {
    const { numUpdatedRows } = await transaction
      .updateTable("totps")
      .set({ last_step: proof.step })
      .where("user_id", "=", userId)
      .where("last_step", "<", proof.step)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }
  if (proof.factor === "recovery") {
    const { numDeletedRows } = await transaction
      .deleteFrom("recovery_codes")
      .where("user_id", "=", userId)
      .where("hash", "=", proof.hash)
      .executeTakeFirstOrThrow();
    return numDeletedRows === 1n;
  }
  // One that does not count says 0 each time. Of one that counts, a copy falls behind.
  const { counter } = proof;
  const { numUpdatedRows } = await transaction
    .updateTable("passkeys")
    .set({ counter, last_used_ms: proof.atMs, is_backed_up: proof.isBackedUp ? 1 : 0 })
    .where("id", "=", proof.id)
    .where("user_id", "=", userId)
    .where((where) => (counter === 0 ? where("counter", "=", 0) : where("counter", "<", counter)))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** What becomes of a transaction that may have been taken back. */
export async function outcomeOf<T>(
  work: Promise<T>,
): Promise<T | Exclude<ProofOutcome, "accepted">> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NotProven) return error.outcome;
    throw error;
  }
}
