import type { Transaction } from "kysely";
import { nextTurn } from "../../../base/clock.ts";
import type { SealedResponse } from "../../../responses/response.ts";
import type { Db, Tables } from "../schema.ts";
import { lockTotals } from "./totals.ts";

/** SQLite writes a piece in two milliseconds; 20 MiB at once would hold up the loop for fifty. */
export const pieceBytes = 1024 * 1024;
const erasedAtOnce = 2;

export type Change = <T>(work: (transaction: Transaction<Tables>) => Promise<T>) => Promise<T>;

export interface RowKey {
  readonly accountId: string;
  readonly id: string;
}

/** Of the items with the reply behind them; 0: they are small, and stand in the row itself. */
export function pieceCount({ items, reply }: Pick<SealedResponse, "items" | "reply">): number {
  const bytes = items.length + reply.length;
  return bytes <= pieceBytes ? 0 : Math.ceil(bytes / pieceBytes);
}

/** Each in a transaction of its own. Throws once the response is being deleted. */
export async function writePieces(change: Change, response: SealedResponse): Promise<void> {
  const { accountId, id } = response;
  for (let place = 0; place < pieceCount(response); place++) {
    const bytes = pieceAt(response, place);
    await nextTurn();
    await change(async (transaction) => {
      // Whoever deletes it sees this piece, or none after it.
      await lockTotals(transaction, accountId);
      const row = await transaction
        .selectFrom("stored_responses")
        .select("id")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("size_bytes", ">", 0)
        .executeTakeFirst();
      if (row === undefined) throw new Error("the response was deleted while it was written");
      await transaction
        .insertInto("stored_response_pieces")
        .values({ account_id: accountId, id, place, bytes })
        .execute();
    });
  }
}

function pieceAt({ items, reply }: SealedResponse, place: number): Uint8Array {
  const [from, to] = [place * pieceBytes, (place + 1) * pieceBytes];
  if (to <= items.length) return items.subarray(from, to);
  const ofReply = (at: number) => Math.max(0, at - items.length);
  return Buffer.concat([items.subarray(from), reply.subarray(ofReply(from), ofReply(to))]);
}

/** Undefined: some of them are gone, because the response is being deleted. */
export async function readPieces(
  db: Db,
  { accountId, id, count }: RowKey & { readonly count: number },
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  for (let place = 0; place < count; place++) {
    await nextTurn();
    const row = await db
      .selectFrom("stored_response_pieces")
      .select("bytes")
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("place", "=", place)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    pieces.push(row.bytes);
  }
  return Buffer.concat(pieces);
}

/** Of a row that nobody finds any more; then the row itself. A sweep goes on where this ended. */
export async function erasePieces(change: Change, { accountId, id }: RowKey): Promise<void> {
  const eraseSome = async (transaction: Transaction<Tables>) => {
    // Of two who erase the same response, each has to see what the other has left.
    await lockTotals(transaction, accountId);
    return transaction
      .deleteFrom("stored_response_pieces")
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("place", "in", (select) =>
        select
          .selectFrom("stored_response_pieces")
          .select("place")
          .where("account_id", "=", accountId)
          .where("id", "=", id)
          .orderBy("place")
          .limit(erasedAtOnce),
      )
      .executeTakeFirstOrThrow();
  };
  while ((await change(eraseSome)).numDeletedRows > 0n) await nextTurn();
  await change((transaction) =>
    transaction
      .deleteFrom("stored_responses")
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("size_bytes", "=", 0)
      .execute(),
  );
}
