import { types as builtin } from "pg";
import { idFloor } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { LedgerReader, ReceiptFilter, StoredSums } from "../../../ledger/store.ts";
import { readLimits } from "../../sql/ledger/limits-text.ts";
import { readCosts, toPrice } from "../../sql/ledger/price-text.ts";
import { type ReceiptRow, toReceipt } from "../../sql/ledger/receipt-row.ts";
import type { Postgres } from "../postgres.ts";
import { type Queries, readBudgetSpends, readEntries, readLeases } from "./ledger.ts";

/** Read in one go; a list of all is read in so many steps. */
const receiptsAtOnce = 5_000;

export interface LedgerReaderOptions {
  readonly postgres: Postgres;
  readonly readSums: (queries: Queries) => Promise<StoredSums>;
}

/** Reads the ledger beside running gateways: everything as of the moment at which it was opened. */
export async function openLedgerReader({
  postgres,
  readSums,
}: LedgerReaderOptions): Promise<LedgerReader> {
  const client = await postgres.pool.connect();
  await client.query("begin isolation level repeatable read read only");
  // A list of all receipts takes its time.
  await client.query("set local statement_timeout = 0");
  await client.query("set local idle_in_transaction_session_timeout = 0");
  const select = async (condition: string, values: readonly unknown[]) => {
    const { rows } = await client.query<ReceiptRow>({
      text: `select * from receipts ${condition}`,
      values: [...values],
      types: exactTypes,
    });
    return rows.map(toReceipt);
  };
  return {
    receipt: async (id) => (await select("where id = $1", [id]))[0],
    receipts: (filter) => readReceipts(select, filter),
    async prices() {
      const { rows } = await client.query<{
        model_id: string;
        version: number;
        effective_at_ms: number;
        price: string | null;
      }>("select model_id, version, effective_at_ms, price from prices");
      return rows.map((row) => ({
        modelId: row.model_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        price: row.price === null ? null : toPrice(row.price),
      }));
    },
    async limits() {
      const { rows } = await client.query<{
        owner_id: string;
        version: number;
        effective_at_ms: number;
        limits: string | null;
      }>("select * from limit_versions order by owner_id, version");
      return rows.map((row) => ({
        ownerId: row.owner_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        limits: row.limits === null ? undefined : readLimits(row.limits),
      }));
    },
    async costs() {
      const { rows } = await client.query<{
        model_id: string;
        version: number;
        effective_at_ms: number;
        routes: string;
      }>("select * from cost_versions");
      return rows.map((row) => ({
        modelId: row.model_id,
        version: row.version,
        effectiveAtMs: row.effective_at_ms,
        routes: readCosts(row.routes),
      }));
    },
    accounts: async () =>
      (
        await client.query<{ id: string; name: string }>(
          "select id, name from accounts order by id",
        )
      ).rows,
    keys: async () =>
      (
        await client.query<{ id: string; name: string; hint: string }>(
          "select id, name, hint from keys order by id",
        )
      ).rows,
    entries: () => readEntries(client),
    leases: () => readLeases(client),
    budgetSpends: () => readBudgetSpends(client),
    rollups: () => readSums(client),
    // The server keeps what it has confirmed, or does not start.
    lostTails: async () => [],
    async close() {
      await client.query("rollback").catch(() => {});
      client.release();
    },
  };
}

/** Whole numbers as they are in the database: money has more digits than a number keeps. */
const exactTypes = {
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
  where("account_id =", filter.accountId);
  where("key_id =", filter.keyId);
  where("model =", filter.model);
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
