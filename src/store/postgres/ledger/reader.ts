import { Kysely, PostgresDialect } from "kysely";
import { types as builtin, type PoolClient } from "pg";
import { idFloor } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { LedgerReader, ReceiptFilter } from "../../../ledger/store.ts";
import { readTables } from "../../sql/ledger/read-tables.ts";
import { type ReceiptRow, toReceipt } from "../../sql/ledger/receipt-row.ts";
import { readLostTails } from "../../sql/lost-tail.ts";
import type { Db } from "../../sql/schema.ts";
import { setDeadline } from "../client.ts";
import { deadlines } from "../deadlines.ts";
import type { Postgres } from "../postgres.ts";
import { readSums } from "../reports/rollups.ts";
import { readBudgetSpends, readEntries, readLeases } from "./ledger.ts";

/** Read in one go; a list of all is read in so many steps. */
const receiptsAtOnce = 5_000;

/** Reads the ledger beside running gateways: everything as of the moment at which it was opened. */
export async function openLedgerReader({ pool }: Postgres): Promise<LedgerReader> {
  const client = await pool.connect();
  setDeadline(client, deadlines.unlimited);
  await client.query("begin isolation level repeatable read read only");
  // A list of all receipts takes its time.
  await client.query("set local statement_timeout = 0");
  await client.query("set local idle_in_transaction_session_timeout = 0");
  // The moment is fixed by the first read.
  await client.query("select 1 from feed");
  const db = onConnection(client);
  const select = async (condition: string, values: readonly unknown[]) => {
    const { rows } = await client.query<ReceiptRow>({
      text: `select * from receipts ${condition}`,
      values: [...values],
      types: exactTypes,
    });
    return rows.map(toReceipt);
  };
  return {
    ...readTables(db),
    receipt: async (id) => (await select("where id = $1", [id]))[0],
    receipts: (filter) => readReceipts(select, filter),
    entries: () => readEntries(client),
    leases: () => readLeases(client),
    budgetSpends: () => readBudgetSpends(client),
    rollups: () => readSums(db),
    spentIs: "receipts",
    lostTails: () => readLostTails(db),
    async close() {
      setDeadline(client, deadlines.close);
      await client.query("rollback").catch(() => {});
      client.release();
    },
  };
}

/** The query builder on one connection, in the transaction that is open there. */
function onConnection(client: PoolClient): Db {
  const only = { query: client.query.bind(client), release: () => {} };
  const pool = { connect: async () => only, end: async () => {} };
  return new Kysely({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** Whole numbers as they are in the database: money has more digits than a number keeps. */
export const exactTypes = {
  getTypeParser: (oid: number) =>
    oid === builtin.builtins.INT8 ? BigInt : builtin.getTypeParser(oid),
} as typeof builtin;

async function* readReceipts(
  select: (condition: string, values: readonly unknown[]) => Promise<readonly Receipt[]>,
  filter: ReceiptFilter,
): AsyncGenerator<Receipt> {
  const { fromMs, toMs, oldestFirst = false } = filter;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const where = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  where("id >=", fromMs === undefined ? undefined : idFloor("req", fromMs));
  where("id <", toMs === undefined ? undefined : idFloor("req", toMs));
  where("id >", filter.afterId);
  where("account_id =", filter.accountId);
  where("key_id =", filter.keyId);
  where("model =", filter.model);
  where("dialect =", filter.dialect);
  where("outcome =", filter.outcome);
  let left = filter.limit === undefined ? Number.POSITIVE_INFINITY : Math.floor(filter.limit);
  let last: string | undefined;
  while (left > 0) {
    const further =
      last === undefined ? [] : [`id ${oldestFirst ? ">" : "<"} $${values.length + 1}`];
    const all = [...conditions, ...further];
    const page = await select(
      `${all.length === 0 ? "" : `where ${all.join(" and ")}`}
        order by id ${oldestFirst ? "asc" : "desc"} limit ${Math.min(left, receiptsAtOnce)}`,
      last === undefined ? values : [...values, last],
    );
    yield* page;
    left -= page.length;
    last = page.at(-1)?.id;
    if (page.length < receiptsAtOnce) return;
  }
}
