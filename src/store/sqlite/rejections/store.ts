import type { Database, SQLQueryBindings } from "bun:sqlite";
import { idFloor } from "../../../base/ids.ts";
import {
  hoursKeptMs,
  minutesKeptMs,
  type RejectionBatch,
  type RejectionBounds,
  type RejectionStore,
  rowsKeptMs,
  usualBounds,
} from "../../../rejections/rejection.ts";
import { readRecent } from "../../sql/rejections/reading.ts";
import { accountsAtOnce, erasedAtOnce } from "../../sql/rejections/steps.ts";
import type { Db } from "../../sql/schema.ts";
import { createSqliteReader } from "../reports/sqlite-reader.ts";

const hourMs = 3_600_000;

export interface RejectionStoreOptions {
  readonly db: Db;
  readonly raw: Database;
  /** Runs work as one transaction between those of the ledger. */
  readonly exclusive: <T>(work: () => T, then: (result: T) => void) => Promise<void>;
  readonly bounds?: RejectionBounds | undefined;
}

export function createRejectionStore(options: RejectionStoreOptions): RejectionStore {
  const { db, raw } = options;
  const writer = new RejectionWriter(options);
  const reader = createSqliteReader(raw);
  return {
    add: (batch) => writer.add(batch),
    erase: (nowMs) => writer.erase(nowMs),
    recent: (query) => readRecent(reader, query),
    async lastRejections() {
      const rows = await db.selectFrom("key_rejections").selectAll().execute();
      return new Map(rows.map((row) => [row.key_id, row.last_ms]));
    },
  };
}

const tables = ["rejections", "rejection_minutes", "rejection_hours"] as const;
type Table = (typeof tables)[number];

class RejectionWriter {
  readonly #exclusive: RejectionStoreOptions["exclusive"];
  readonly #bounds: RejectionBounds;
  readonly #statements: ReturnType<typeof prepare>;
  /** Accounts that may have more than their share. */
  readonly #grown = new Set<string>();
  /** An earlier process may have left too much. */
  #hasGrown = true;
  /** Still to be deleted, by account and table: it is counted once, and not at each step. */
  readonly #excess = new Map<string, number>();

  constructor({ raw, exclusive, bounds = usualBounds }: RejectionStoreOptions) {
    this.#exclusive = exclusive;
    this.#bounds = bounds;
    this.#statements = prepare(raw);
  }

  add({ rows, counts, keys }: RejectionBatch): Promise<void> {
    const { addRow, addMinute, addHour, addKey } = this.#statements;
    const write = () => {
      for (const row of rows) {
        const { id, accountId, keyId, model, endpoint, dialect } = row;
        const { status, code, message, reason, count } = row;
        const where = [accountId, keyId, model, endpoint, dialect];
        addRow.run(id, ...where, status, code, message, reason, count);
      }
      for (const { minuteMs, accountId, keyId, model, code, status, count } of counts) {
        const rest = [accountId, keyId, model, code, status, count];
        addMinute.run(minuteMs, ...rest);
        addHour.run(minuteMs - (minuteMs % hourMs), ...rest);
      }
      for (const { keyId, lastMs } of keys) addKey.run(lastMs, keyId);
    };
    return this.#exclusive(write, () => {
      this.#hasGrown = true;
      for (const { accountId } of counts) this.#grown.add(accountId);
    });
  }

  async erase(nowMs: number): Promise<boolean> {
    let isMore = false;
    try {
      await this.#exclusive(
        () => this.#eraseOld(nowMs) || this.#eraseOfAccounts() || this.#eraseOfAll(),
        (result) => {
          isMore = result;
        },
      );
    } catch (error) {
      // What was rolled back has to be counted again.
      this.#excess.clear();
      throw error;
    }
    return isMore;
  }

  #eraseOld(nowMs: number): boolean {
    const { oldRows, oldMinutes, oldHours } = this.#statements;
    const deleted = [
      oldRows.run(idFloor("req", nowMs - rowsKeptMs), erasedAtOnce),
      oldMinutes.run(nowMs - minutesKeptMs, erasedAtOnce),
      oldHours.run(nowMs - hoursKeptMs, erasedAtOnce),
    ];
    return deleted.some(({ changes }) => changes > 0);
  }

  #eraseOfAccounts(): boolean {
    let looked = 0;
    for (const accountId of this.#grown) {
      if (this.#deleteMost((table) => this.#statements.ofAccount[table], accountId)) return true;
      this.#grown.delete(accountId);
      if (++looked === accountsAtOnce) break;
    }
    return this.#grown.size > 0;
  }

  #eraseOfAll(): boolean {
    if (!this.#hasGrown) return false;
    this.#hasGrown = this.#deleteMost((table) => this.#statements.ofAll[table]);
    return this.#hasGrown;
  }

  /**
   * A step of what exceeds the bounds, the oldest first; false when nothing does. Called again for
   * the same rows until then.
   */
  #deleteMost(
    statementsOf: (table: Table) => ReturnType<typeof countAndErase>,
    ...of: readonly string[]
  ): boolean {
    const { rows, rowsOfAccount, counts, countsOfAccount } = this.#bounds;
    const nameOf = (table: Table) => [table, ...of].join(" ");
    let isMore = false;
    for (const table of tables) {
      const isRows = table === "rejections";
      const ofOne = isRows ? rowsOfAccount : countsOfAccount;
      const most = of.length > 0 ? ofOne : isRows ? rows : counts;
      const { count, erase } = statementsOf(table);
      const name = nameOf(table);
      const excess = this.#excess.get(name) ?? (count.get(...of)?.count ?? 0) - most;
      this.#excess.set(name, excess - erasedAtOnce);
      if (excess <= 0) continue;
      erase.run(...of, Math.min(excess, erasedAtOnce));
      isMore = true;
    }
    if (!isMore) for (const table of tables) this.#excess.delete(nameOf(table));
    return isMore;
  }
}

function prepare(raw: Database) {
  const query = (text: string) => raw.query<unknown, SQLQueryBindings[]>(text);
  const addCount = (table: Table) =>
    query(`insert into ${table} (start_ms, account_id, key_id, model, code, status, count)
      values (?, ?, ?, ?, ?, ?, ?) on conflict do update set count = count + excluded.count`);
  const eraseOld = (table: Table) =>
    query(`delete from ${table} where rowid in
      (select rowid from ${table} where start_ms < ? order by start_ms limit ?)`);
  const each = (of: string) => ({
    rejections: countAndErase(raw, { table: "rejections", id: "id", order: "id", of }),
    rejection_minutes: countAndErase(raw, { ...sums, table: "rejection_minutes", of }),
    rejection_hours: countAndErase(raw, { ...sums, table: "rejection_hours", of }),
  });
  return {
    // A row that is there stands for several calls, and what it says is true of all of them.
    addRow: query(`insert into rejections
      (id, account_id, key_id, model, endpoint, dialect, status, code, message, reason, count)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set
        count = count + excluded.count, model = excluded.model, endpoint = excluded.endpoint,
        dialect = excluded.dialect, reason = excluded.reason`),
    addMinute: addCount("rejection_minutes"),
    addHour: addCount("rejection_hours"),
    addKey: query(`insert into key_rejections (key_id, last_ms) select id, ? from keys where id = ?
      on conflict do update set last_ms = max(last_ms, excluded.last_ms)`),
    oldRows: query(`delete from rejections where id in
      (select id from rejections where id < ? order by id limit ?)`),
    oldMinutes: eraseOld("rejection_minutes"),
    oldHours: eraseOld("rejection_hours"),
    ofAccount: each("where account_id = ?"),
    ofAll: each(""),
  };
}

const sums = { id: "rowid", order: "start_ms" } as const;

function countAndErase(
  raw: Database,
  options: {
    readonly table: Table;
    readonly id: string;
    readonly order: string;
    readonly of: string;
  },
) {
  const { table, id, order, of } = options;
  return {
    count: raw.query<{ count: number }, SQLQueryBindings[]>(
      `select count(*) as count from ${table} ${of}`,
    ),
    erase: raw.query<unknown, SQLQueryBindings[]>(
      `delete from ${table} where ${id} in
        (select ${id} from ${table} ${of} order by ${order} limit ?)`,
    ),
  };
}
