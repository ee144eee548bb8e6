import type { Transaction } from "kysely";
import type { StoredTotals } from "../../../responses/response.ts";
import { rowLock } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";

/** How many bytes the account has. Before anything of it changes: other processes wait here. */
export async function lockTotals(
  transaction: Transaction<Tables>,
  accountId: string,
): Promise<number> {
  const row = await transaction
    .selectFrom("stored_response_totals")
    .select("bytes")
    .where("account_id", "=", accountId)
    .modifyEnd(rowLock(transaction))
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

/** Locks them, too. Returns how many bytes the account has with these. */
export async function addTotals(
  transaction: Transaction<Tables>,
  accountId: string,
  { responses, bytes }: StoredTotals,
): Promise<number> {
  const row = await transaction
    .insertInto("stored_response_totals")
    .values({ account_id: accountId, responses, bytes })
    .onConflict((conflict) =>
      conflict.column("account_id").doUpdateSet((total) => ({
        responses: total("stored_response_totals.responses", "+", responses),
        bytes: total("stored_response_totals.bytes", "+", bytes),
      })),
    )
    .returning("bytes")
    .executeTakeFirstOrThrow();
  return row.bytes;
}

export async function readTotals(db: Db, accountId: string): Promise<StoredTotals> {
  const row = await db
    .selectFrom("stored_response_totals")
    .select(["responses", "bytes"])
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row ?? { responses: 0, bytes: 0 };
}
