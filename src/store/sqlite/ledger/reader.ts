import { Database, type SQLQueryBindings } from "bun:sqlite";
import { existsSync } from "node:fs";
import { Kysely, SqliteDialect } from "kysely";
import { idFloor } from "../../../base/ids.ts";
import { Problem } from "../../../base/problem.ts";
import type { LedgerReader, ReceiptFilter } from "../../../ledger/store.ts";
import { readTables } from "../../sql/ledger/read-tables.ts";
import { type ReceiptRow, toReceipt } from "../../sql/ledger/receipt-row.ts";
import { findLostTail, isSame, readLostTails } from "../../sql/lost-tail.ts";
import type { Db } from "../../sql/schema.ts";
import { realDatabasePath } from "../database-file.ts";
import { readMark } from "../mark.ts";
import { pendingOf } from "../migrations/migrations.ts";
import { readSums } from "../reports/rollups.ts";
import { asKyselyExpects } from "../sqlite.ts";
import { toStoreProblem } from "../store-problem.ts";
import { readBudgetSpends, readEntries, readLeases } from "./ledger.ts";

/**
 * Reads the ledger beside a running gateway, on a connection of its own: long lists and sums cost
 * the gateway nothing. Everything is seen as of the moment at which it was opened.
 */
export function openLedgerReader(path: string): LedgerReader {
  // Before the moment is fixed: what it tells of is in the database by then.
  const mark = readMark(realDatabasePath(path));
  const raw = openForReading(path);
  const db: Db = new Kysely({ dialect: new SqliteDialect({ database: asKyselyExpects(raw) }) });
  const tables = readTables(db);
  return {
    async receipt(id) {
      const [row] = raw
        .query<ReceiptRow, [string]>("select * from receipts where id = ?")
        .safeIntegers(true)
        .all(id);
      return row && toReceipt(row);
    },
    async *receipts(filter) {
      if (filter.dialect !== undefined) checkMigrated(raw, path, "receipts", "dialect");
      const { sql, values } = toQuery(filter);
      const statement = raw.prepare<ReceiptRow, SQLQueryBindings[]>(sql).safeIntegers(true);
      try {
        for (const row of statement.iterate(...values)) yield toReceipt(row);
      } finally {
        // Who stops early would otherwise leave a read open, and with it the write-ahead log.
        statement.finalize();
      }
    },
    ...tables,
    async limits() {
      checkMigrated(raw, path, "limit_versions");
      return tables.limits();
    },
    async receiptMarks() {
      checkMigrated(raw, path, "receipt_marks");
      return tables.receiptMarks();
    },
    entries: () => readEntries(db),
    leases: () => readLeases(db),
    budgetSpends: () => readBudgetSpends(db),
    rollups: () => readSums(db),
    spentIs: "sums",
    async lostTails() {
      const known = await readLostTails(db);
      const lost = await findLostTail(db, mark, Date.now());
      return lost === undefined || known.some((one) => isSame(one, lost))
        ? known
        : [...known, lost];
    },
    async close() {
      await db.destroy();
      // Kysely closes only what it has been asked something of.
      raw.close();
    },
  };
}

/** Reading changes nothing, so it does not migrate either. */
function checkMigrated(raw: Database, path: string, table: string, column = "%"): void {
  const columns = "select 1 from pragma_table_info(?) where name like ? limit 1";
  if (raw.query(columns).get(table, column) !== null) return;
  throw new Problem({
    code: "failed",
    message: `The database ${path} was written by an earlier version and has not been migrated. Back it up, then start the gateway once.`,
  });
}

/** A schema that this version does not know; it migrates nothing. */
export async function refuseNewer(path: string): Promise<void> {
  const raw = openForReading(path);
  try {
    await pendingOf(new Kysely({ dialect: new SqliteDialect({ database: asKyselyExpects(raw) }) }));
  } finally {
    raw.close();
  }
}

export function openForReading(path: string): Database {
  let raw: Database | undefined;
  try {
    raw = new Database(path, { readwrite: true, create: false, strict: true });
    raw.run("PRAGMA query_only = ON");
    raw.run("PRAGMA busy_timeout = 5000");
    raw.run("BEGIN");
    // The moment is fixed by the first read. An older database has no receipts.
    raw.query("select id from receipts limit 1").get();
    return raw;
  } catch (cause) {
    raw?.close();
    const known = existsSync(path) ? toStoreProblem(cause, path) : cause;
    if (known instanceof Problem) throw known;
    throw new Problem({
      code: "failed",
      message: `The ledger cannot be read from ${path}: ${cause instanceof Error ? cause.message : String(cause)}. Check that the gateway has been started here before.`,
      cause,
    });
  }
}

function toQuery(filter: ReceiptFilter): { sql: string; values: SQLQueryBindings[] } {
  const conditions: string[] = [];
  const values: SQLQueryBindings[] = [];
  const where = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  const { fromMs, toMs } = filter;
  where("id >= ?", fromMs === undefined ? undefined : idFloor("req", fromMs));
  where("id < ?", toMs === undefined ? undefined : idFloor("req", toMs));
  where("id > ?", filter.afterId);
  where("account_id = ?", filter.accountId);
  where("key_id = ?", filter.keyId);
  where("model = ?", filter.model);
  where("dialect = ?", filter.dialect);
  where("outcome = ?", filter.outcome);
  const condition = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  const order = filter.oldestFirst === true ? "" : " desc";
  const limit = filter.limit === undefined ? "" : ` limit ${Math.floor(filter.limit)}`;
  return { sql: `select * from receipts${condition} order by id${order}${limit}`, values };
}
