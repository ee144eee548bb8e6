import { type Database, SQLiteError, type Statement } from "bun:sqlite";
import { idTimeMs } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { type Rollup, toHour } from "../../../ledger/rollups.ts";
import {
  type Claim,
  FencedError,
  type LedgerWrite,
  NotSyncedError,
  UnwritableError,
} from "../../../ledger/store.ts";
import { receiptColumns, receiptValues } from "../../sql/ledger/receipt-values.ts";
import { rollupKeys, rollupValues } from "../../sql/reports/rollup-columns.ts";
import { localNode } from "../../sql/schema.ts";
import { MovedError } from "../database-file.ts";
import { addRowSql } from "../reports/add-row.ts";
import { RollupFold } from "../reports/rollup-fold.ts";
import { type SumsMark, toOpenFromId } from "../reports/rollups.ts";

export interface LedgerWriterOptions {
  readonly raw: Database;
  readonly sync: () => Promise<void>;
  readonly onCommit: () => void;
  /** Asked inside every transaction; throws when this process may not write. */
  readonly guard: () => void;
  readonly sums: SumsMark;
  /** Every receipt that a commit has really added. */
  readonly onReceipt: (receipt: Receipt) => void;
}

/** A transaction that is not over by then is nobody's. */
const maxYields = 1_000;

/**
 * The one hot write of the gateway: prepared statements on the process's own connection. A batch
 * is one transaction that adds rows and changes none: what accounts have spent is added up in
 * bulk (rollup-store.ts), because changing a row an account costs as much as all the rest.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #fold: RollupFold;
  #paused: Promise<void> | undefined;
  #yields = 0;
  /** In the transaction under way. */
  readonly #added: Receipt[] = [];

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#statements = prepare(options.raw);
    this.#fold = new RollupFold(options.raw);
  }

  /** Resolves when the writes are durable. */
  commit(writes: readonly LedgerWrite[]): Promise<void> {
    const busy = this.#whenFree();
    if (busy !== undefined) return busy.then(() => this.commit(writes));
    try {
      this.#transact(() => this.#write(writes));
    } catch (error) {
      return Promise.reject(isOfTheWrites(error) ? toUnwritable(error) : error);
    }
    this.#tell();
    return this.#options.sync().catch((cause: unknown) => {
      throw new NotSyncedError("the disk did not confirm the write", { cause });
    });
  }

  /** Sums of receipts, to what is there and to what their accounts have spent. */
  async addSums(rollups: readonly Rollup[], openFromMs: number | undefined): Promise<void> {
    const { sums } = this.#options;
    const before = sums.openFromId;
    for (let busy = this.#whenFree(); busy !== undefined; busy = this.#whenFree()) await busy;
    // A late receipt may have come while this waited: its hour stays open.
    const isLower = sums.openFromId < before;
    const fromMs = isLower ? toHour(idTimeMs(sums.openFromId)) : openFromMs;
    const { addRollup, addSpent, openSums } = this.#statements;
    this.#transact(() => {
      for (const rollup of rollups) addRollup.run(...rollupValues(rollup));
      for (const { accountId, charged } of rollups)
        if (charged > 0n) addSpent.run(charged, accountId);
      if (rollups.length > 0) this.#fold.addLate(rollups);
      openSums.run(String(fromMs ?? ""));
    });
    sums.openFromId = toOpenFromId(fromMs);
    this.#options.onCommit();
  }

  /** The oldest closed hour, to the sums of its day; false when there is none. */
  async fold(beforeMs: number): Promise<boolean> {
    for (let busy = this.#whenFree(); busy !== undefined; busy = this.#whenFree()) await busy;
    const hour = this.#fold.next(beforeMs);
    if (hour === undefined) return false;
    this.#transact(() => this.#fold.fold(hour));
    this.#options.onCommit();
    return true;
  }

  /** Some other work as one transaction, and in the same turn what is to follow it. */
  async exclusive<T>(work: () => T, then: (result: T) => void): Promise<void> {
    for (let busy = this.#whenFree(); busy !== undefined; busy = this.#whenFree()) await busy;
    const result = this.#transact(work);
    this.#options.onCommit();
    then(result);
  }

  /** Undefined where a transaction can begin at once, which is nearly always. */
  #whenFree(): Promise<void> | undefined {
    if (this.#paused !== undefined) return this.#paused;
    const isBusy = this.#options.raw.inTransaction && this.#yields < maxYields;
    this.#yields = isBusy ? this.#yields + 1 : 0;
    // The query builder is in the middle of one, which needs no more than this turn.
    return isBusy ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }

  /** Commits wait, and nothing else does, until the work is done. */
  async pause(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#paused = promise;
    try {
      await work();
    } finally {
      this.#paused = undefined;
      resolve();
    }
  }

  #transact<T>(work: () => T): T {
    const { raw, sums, guard } = this.#options;
    const { begin, commit, rollback } = this.#statements;
    if (raw.inTransaction) throw new BusyError("another transaction is in progress");
    const { openFromId } = sums;
    begin.run();
    try {
      guard();
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // What was not written must not be told, nor be taken for written when it is tried again.
      this.#added.length = 0;
      sums.openFromId = openFromId;
      // After some failures SQLite has rolled back by itself.
      if (raw.inTransaction) rollback.run();
      throw error;
    }
  }

  /** The transaction stands: a sum that is written from now on comes after it, also in the log. */
  #tell(): void {
    const { onCommit, onReceipt } = this.#options;
    onCommit();
    for (const receipt of this.#added) onReceipt(receipt);
    this.#added.length = 0;
  }

  #write(writes: readonly LedgerWrite[]): void {
    const { insertReceipt, addBudget, releaseClaim, probe } = this.#statements;
    // Asked for by who wants to know whether the disk can be written again.
    if (writes.length === 0) probe.run();
    for (const write of writes)
      switch (write.type) {
        case "receipt": {
          const { receipt, hold, claim } = write;
          if (claim !== undefined) this.#putClaim(claim);
          // What is there already was charged then.
          if (insertReceipt.run(...receiptValues(receipt)).changes === 0) break;
          this.#added.push(receipt);
          if (receipt.id < this.#options.sums.openFromId) this.#openSums(receipt);
          if (receipt.charged === 0n) break;
          for (const { ownerId, periodStartMs } of hold.budgets)
            addBudget.run(ownerId, periodStartMs, receipt.charged);
          break;
        }
        case "claim":
          this.#putClaim(write.claim);
          break;
        case "claim-release":
          releaseClaim.run(write.id);
          break;
        case "void":
          // What this database was asked to write is always known to stand, or not to.
          break;
        default:
          write satisfies never;
      }
  }

  /** It comes late, after a disk was full for long: its hour was closed and is open again. */
  #openSums({ id }: Receipt): void {
    const openFromMs = toHour(idTimeMs(id));
    // It may have been there, and charged: what is gone must not be charged again.
    if (openFromMs < (this.#statements.keptFrom.get()?.ms ?? 0))
      throw new Error(`receipts as old as ${id} are no longer kept`);
    this.#statements.openSums.run(String(openFromMs));
    this.#options.sums.openFromId = toOpenFromId(openFromMs);
  }

  #putClaim(claim: Claim): void {
    const { id, bodyHash, requestId, isDone, reply, expiresAtMs } = claim;
    this.#statements.putClaim.run(
      id,
      bodyHash,
      requestId,
      isDone ? 1 : 0,
      reply ?? null,
      expiresAtMs,
    );
  }
}

class BusyError extends Error {
  override readonly name = "BusyError";
}

/** A full or read-only disk gets well again; a value that no column takes does not. */
function isOfTheWrites(error: unknown): boolean {
  if (error instanceof BusyError || error instanceof MovedError || error instanceof FencedError)
    return false;
  if (!(error instanceof SQLiteError)) return true;
  return /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(error.code ?? "");
}

const toUnwritable = (cause: unknown) => new UnwritableError(String(cause), { cause });

type Values = (string | number | bigint | Uint8Array | null)[];

function prepare(raw: Database) {
  const query = (sql: string): Statement<unknown, Values> => raw.query<unknown, Values>(sql);
  const places = receiptColumns.map(() => "?").join(", ");
  return {
    begin: query("begin immediate"),
    commit: query("commit"),
    rollback: query("rollback"),
    // Another value each time: SQLite writes no page for a value that stays.
    probe: query(
      "insert into meta (key, value) values ('write_probe', '0') on conflict do update set value = case value when '0' then '1' else '0' end",
    ),
    insertReceipt: query(
      `insert into receipts (${receiptColumns.join(", ")}) values (${places}) on conflict do nothing`,
    ),
    addSpent: query(
      `update leases set spent = spent + ? where account_id = ? and node = '${localNode}'`,
    ),
    addRollup: query(addRowSql("rollups", rollupKeys)),
    openSums: query(
      "insert into meta (key, value) values ('rollups_open_from_ms', ?) on conflict do update set value = excluded.value",
    ),
    keptFrom: raw.query<{ ms: number | null }, []>(
      "select max(kept_from_ms) as ms from receipt_marks",
    ),
    addBudget: query(
      "insert into budget_spends (owner_id, period_start_ms, spent) values (?, ?, ?) on conflict do update set spent = spent + excluded.spent",
    ),
    putClaim: query(
      "insert into claims (id, body_hash, request_id, is_done, reply, expires_at_ms) values (?, ?, ?, ?, ?, ?) on conflict do update set body_hash = excluded.body_hash, request_id = excluded.request_id, is_done = excluded.is_done, reply = excluded.reply, expires_at_ms = excluded.expires_at_ms",
    ),
    releaseClaim: query("delete from claims where id = ? and is_done = 0"),
  };
}
