import type { Transaction } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import { nextTurn } from "../../../base/clock.ts";
import type {
  ResponseStore,
  SealedItems,
  SealedResponse,
  StoredTotals,
} from "../../../responses/response.ts";
import { addAudit } from "../audit.ts";
import type { Db, Tables } from "../schema.ts";
import { type Change, erasePieces, type RowKey, writePieces } from "./pieces.ts";
import {
  fromResponse,
  itemsColumns,
  oldestRows,
  readChain,
  removeRows,
  sizedRows,
  sizeOf,
  toResponse,
  toSealedItems,
  upTo,
} from "./rows.ts";
import { addTotals, lockTotals, readTotals } from "./totals.ts";

/** Deleted in one transaction: SQLite overwrites all of it before the event loop goes on. */
const removedAtOnce = 200;
const bytesAtOnce = 8 * 1024 * 1024;

/**
 * The totals of an account change together with its rows. Every transaction that changes rows locks
 * the totals first, so processes that share the database keep the bound together.
 *
 * A large response is written in pieces, each in a transaction of its own, and found when all of them
 * are there. Deleted, it is not found any more first, and then its pieces go. So its row is there
 * longer than any of its pieces, and a sweep finishes what a process has left half done.
 */
export class SqlResponses implements ResponseStore {
  readonly #db: Db;
  readonly #change: Change;

  constructor(db: Db, onWrite = () => {}) {
    this.#db = db;
    this.#change = async (work) => {
      const result = await db.transaction().execute(work);
      onWrite();
      return result;
    };
  }

  async save(response: SealedResponse, accountBytes: number): Promise<void> {
    await this.#untilDone((transaction) => addOrMakeRoom(transaction, response, accountBytes));
    if (fromResponse(response).is_whole === 1) return;
    await writePieces(this.#change, response);
    await this.#untilDone((transaction) => complete(transaction, response, accountBytes));
  }

  async find({ accountId, ids, nowMs }: Parameters<ResponseStore["find"]>[0]) {
    const rows = await this.#known({ accountId, ids, nowMs }).selectAll().execute();
    const found: SealedResponse[] = [];
    for (const row of rows) {
      const response = await toResponse(this.#db, row);
      if (response !== undefined) found.push(response);
    }
    return found;
  }

  async findItems(query: Parameters<ResponseStore["findItems"]>[0]) {
    const rows = await this.#known(query).select(itemsColumns).execute();
    const found: SealedItems[] = [];
    for (const row of rows) {
      const items = await toSealedItems(this.#db, row);
      if (items !== undefined) found.push(items);
    }
    return found;
  }

  #known({ accountId, ids, nowMs }: Parameters<ResponseStore["find"]>[0]) {
    return this.#db
      .selectFrom("stored_responses")
      .where("account_id", "=", accountId)
      .where("id", "in", ids)
      .where("expires_at_ms", ">", nowMs)
      .where("is_whole", "=", 1);
  }

  chain(query: Parameters<ResponseStore["chain"]>[0]) {
    return readChain(this.#db, query);
  }

  async remove({ accountId, id, nowMs }: Parameters<ResponseStore["remove"]>[0]) {
    const { isFound, removed } = await this.#change(async (transaction) => {
      await lockTotals(transaction, accountId);
      const rows = await sizedRows(transaction, accountId)
        .where("id", "=", id)
        .where("expires_at_ms", ">", nowMs)
        .where("is_whole", "=", 1)
        .execute();
      const isFound = rows.length > 0;
      return { isFound, removed: await removeRows(transaction, accountId, rows) };
    });
    await this.#erase(removed);
    return isFound;
  }

  async sweep(nowMs: number): Promise<boolean> {
    const expired = await this.#db
      .selectFrom("stored_responses")
      .select(["account_id", "id", "size_bytes", "pieces"])
      .where("expires_at_ms", "<=", nowMs)
      .orderBy("expires_at_ms")
      .limit(removedAtOnce)
      .execute();
    const step = upTo(expired, bytesAtOnce);
    for (const [accountId, rows] of Map.groupBy(step, ({ account_id }) => account_id)) {
      const ids = rows.map(({ id }) => id);
      const removed = await this.#change(async (transaction) => {
        await lockTotals(transaction, accountId);
        // Another process may have deleted them meanwhile.
        const left = await sizedRows(transaction, accountId)
          .where("id", "in", ids)
          .where("expires_at_ms", "<=", nowMs)
          .execute();
        return removeRows(transaction, accountId, left);
      });
      await this.#erase(removed);
    }
    return step.length > 0;
  }

  async removeAll(query: Parameters<ResponseStore["removeAll"]>[0], audit: AuditRecord) {
    let [responses, bytes] = [0, 0];
    for (;;) {
      const record = responses === 0 ? audit : undefined;
      const step = await this.#change((transaction) => removeStep(transaction, query, record));
      await this.#erase(step.removed);
      if (step.responses === 0) return { responses, bytes };
      responses += step.responses;
      bytes += step.bytes;
      await nextTurn();
    }
  }

  totals(accountId: string): Promise<StoredTotals> {
    return readTotals(this.#db, accountId);
  }

  async #untilDone(work: (transaction: Transaction<Tables>) => Promise<Room>): Promise<void> {
    for (;;) {
      const { isEnough, removed } = await this.#change(work);
      await this.#erase(removed);
      if (isEnough) return;
      await nextTurn();
    }
  }

  async #erase(removed: readonly RowKey[]): Promise<void> {
    for (const key of removed) await erasePieces(this.#change, key);
  }
}

interface Room {
  /** False: more responses have to be deleted. */
  readonly isEnough: boolean;
  readonly removed: readonly RowKey[];
}

/** Deletes the oldest responses until so many bytes are free, or a step of them. */
async function makeRoom(
  transaction: Transaction<Tables>,
  accountId: string,
  bytes: number,
): Promise<Room> {
  if (bytes <= 0) return { isEnough: true, removed: [] };
  const oldest = await oldestRows(transaction, accountId).limit(removedAtOnce).execute();
  const step = upTo(oldest, bytes);
  const removed = await removeRows(transaction, accountId, step);
  return { isEnough: step.length === 0 || sizeOf(step) >= bytes, removed };
}

/** It is added where there is room enough. */
async function addOrMakeRoom(
  transaction: Transaction<Tables>,
  response: SealedResponse,
  accountBytes: number,
): Promise<Room> {
  const row = fromResponse(response);
  const { account_id: accountId, size_bytes: bytes } = row;
  const total = await addTotals(transaction, accountId, { responses: 1, bytes });
  const room = await makeRoom(transaction, accountId, total - accountBytes);
  if (room.isEnough) await transaction.insertInto("stored_responses").values(row).execute();
  else await addTotals(transaction, accountId, { responses: -1, bytes: -bytes });
  return room;
}

/**
 * All pieces are written. What was written at the same time could not make room for it, so the
 * account may have too much until now.
 */
async function complete(
  transaction: Transaction<Tables>,
  { accountId, id, expiresAtMs }: SealedResponse,
  accountBytes: number,
): Promise<Room> {
  const total = await lockTotals(transaction, accountId);
  await transaction
    .updateTable("stored_responses")
    .set({ is_whole: 1, expires_at_ms: expiresAtMs })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("size_bytes", ">", 0)
    .execute();
  return makeRoom(transaction, accountId, total - accountBytes);
}

async function removeStep(
  transaction: Transaction<Tables>,
  { accountId, toMs }: Parameters<ResponseStore["removeAll"]>[0],
  audit: AuditRecord | undefined,
): Promise<StoredTotals & { readonly removed: readonly RowKey[] }> {
  await lockTotals(transaction, accountId);
  // With those that are being written; without those that are being deleted already.
  const oldest = sizedRows(transaction, accountId)
    .where("created_at_ms", "<=", toMs)
    .where("size_bytes", ">", 0)
    .orderBy("created_at_ms")
    .orderBy("id");
  const step = upTo(await oldest.limit(removedAtOnce).execute(), bytesAtOnce);
  const removed = await removeRows(transaction, accountId, step);
  if (step.length > 0 && audit !== undefined) await addAudit(transaction, audit);
  return { responses: step.length, bytes: sizeOf(step), removed };
}
