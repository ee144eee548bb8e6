import { sql, type Transaction } from "kysely";
import type {
  ChainLink,
  ResponseStore,
  SealedItems,
  SealedResponse,
} from "../../../responses/response.ts";
import type { Db, Tables } from "../schema.ts";
import { pieceBytes, pieceCount, type RowKey, readPieces } from "./pieces.ts";
import { addTotals } from "./totals.ts";

export interface SizedRow {
  readonly id: string;
  /** 0: it is being deleted, and not counted any more. */
  readonly size_bytes: number;
  readonly pieces: number;
}

/** Complete responses of an account. */
export const sizedRows = (transaction: Transaction<Tables>, accountId: string) =>
  transaction
    .selectFrom("stored_responses")
    .select(["id", "size_bytes", "pieces"])
    .where("account_id", "=", accountId);

export const oldestRows = (transaction: Transaction<Tables>, accountId: string) =>
  sizedRows(transaction, accountId)
    .where("is_whole", "=", 1)
    .orderBy("created_at_ms")
    .orderBy("id");

export const sizeOf = (rows: readonly SizedRow[]) =>
  rows.reduce((sum, row) => sum + row.size_bytes, 0);

/** The first of them that have so many bytes together, or all. */
export function upTo<T extends SizedRow>(rows: readonly T[], bytes: number): readonly T[] {
  let sum = 0;
  const end = rows.findIndex((row) => {
    sum += row.size_bytes;
    return sum >= bytes;
  });
  return end === -1 ? rows : rows.slice(0, end + 1);
}

/**
 * Small ones are deleted. Those in pieces cannot be found from here on: they are returned, to be
 * erased after the commit, or by a sweep.
 */
export async function removeRows(
  transaction: Transaction<Tables>,
  accountId: string,
  rows: readonly SizedRow[],
): Promise<readonly RowKey[]> {
  const idsOf = (chosen: readonly SizedRow[]) => chosen.map(({ id }) => id);
  const small = idsOf(rows.filter(({ pieces }) => pieces === 0));
  const large = idsOf(rows.filter(({ pieces }) => pieces > 0));
  if (small.length > 0)
    await transaction
      .deleteFrom("stored_responses")
      .where("account_id", "=", accountId)
      .where("id", "in", small)
      .execute();
  if (large.length > 0)
    await transaction
      .updateTable("stored_responses")
      .set({ is_whole: 0, expires_at_ms: 0, size_bytes: 0 })
      .where("account_id", "=", accountId)
      .where("id", "in", large)
      .execute();
  const responses = rows.filter((row) => row.size_bytes > 0).length;
  if (responses > 0)
    await addTotals(transaction, accountId, { responses: -responses, bytes: -sizeOf(rows) });
  return large.map((id) => ({ accountId, id }));
}

export async function readChain(
  db: Db,
  { accountId, id, nowMs, most }: Parameters<ResponseStore["chain"]>[0],
): Promise<readonly ChainLink[]> {
  const { rows } = await sql<{
    id: string;
    previous_id: string | null;
    size_bytes: number;
    items_bytes: number;
  }>`with recursive chain (place, id, previous_id, size_bytes, items_bytes) as (
      select 1, id, previous_id, size_bytes, items_bytes from stored_responses
      where account_id = ${accountId} and id = ${id} and expires_at_ms > ${nowMs} and is_whole = 1
      union all
      select chain.place + 1, older.id, older.previous_id, older.size_bytes, older.items_bytes
      from chain join stored_responses as older
        on older.account_id = ${accountId} and older.id = chain.previous_id
      where chain.place < ${most} and older.expires_at_ms > ${nowMs} and older.is_whole = 1)
    select id, previous_id, size_bytes, items_bytes from chain order by place`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    previousId: row.previous_id ?? undefined,
    sizeBytes: row.size_bytes,
    itemsBytes: row.items_bytes,
  }));
}

/** One in pieces is found when all of them are there. */
const unfinishedMs = 3_600_000;
const nothing = new Uint8Array();

export function fromResponse(response: SealedResponse): Tables["stored_responses"] {
  const { items, reply } = response;
  const pieces = pieceCount(response);
  const isWhole = pieces === 0;
  return {
    account_id: response.accountId,
    id: response.id,
    key_id: response.keyId,
    model: response.model,
    created_at_ms: response.createdAtMs,
    // What a process leaves behind that dies on the way is swept.
    expires_at_ms: isWhole ? response.expiresAtMs : response.createdAtMs + unfinishedMs,
    previous_id: response.previousId ?? null,
    size_bytes: items.length + reply.length,
    items_bytes: items.length,
    pieces,
    is_whole: isWhole ? 1 : 0,
    items: isWhole ? items : nothing,
    reply: isWhole ? reply : nothing,
  };
}

/** Undefined: it is being deleted. */
export async function toResponse(
  db: Db,
  row: Tables["stored_responses"],
): Promise<SealedResponse | undefined> {
  const { account_id: accountId, id, pieces: count } = row;
  const head = toHead(row);
  if (count === 0) return { ...head, items: row.items, reply: row.reply };
  const whole = await readPieces(db, { accountId, id, count });
  if (whole === undefined) return undefined;
  const items = whole.subarray(0, row.items_bytes);
  return { ...head, items, reply: whole.subarray(row.items_bytes) };
}

type ItemsRow = Omit<Tables["stored_responses"], "reply">;

/** Undefined: it is being deleted. */
export async function toSealedItems(db: Db, row: ItemsRow): Promise<SealedItems | undefined> {
  const { account_id: accountId, id, items_bytes: bytes } = row;
  const head = toHead(row);
  if (row.pieces === 0) return { ...head, items: row.items };
  // The last piece of them may have the beginning of the reply.
  const count = Math.ceil(bytes / pieceBytes);
  const pieces = await readPieces(db, { accountId, id, count });
  return pieces && { ...head, items: pieces.subarray(0, bytes) };
}

const toHead = (row: ItemsRow) => ({
  accountId: row.account_id,
  id: row.id,
  keyId: row.key_id,
  model: row.model,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  previousId: row.previous_id ?? undefined,
});

export const itemsColumns = [
  "account_id",
  "id",
  "key_id",
  "model",
  "created_at_ms",
  "expires_at_ms",
  "previous_id",
  "size_bytes",
  "items_bytes",
  "pieces",
  "is_whole",
  "items",
] as const;
