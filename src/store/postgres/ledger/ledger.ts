import type { Pool } from "pg";
import type {
  BudgetSpend,
  Claim,
  Entry,
  Lease,
  LedgerStore,
  LedgerWrite,
} from "../../../ledger/store.ts";
import type { CountedReceipt } from "../../../ledger/tokens/reasoning.ts";
import { type EntryRow, toEntry } from "../../sql/ledger/entry-row.ts";
import { deadlines } from "../deadlines.ts";
import { query } from "../query.ts";
import { addEntry, entryFields } from "./entries.ts";
import { setLimits } from "./limits-writer.ts";

export interface LedgerStoreOptions {
  readonly pool: Pool;
  /** Of a process that charges calls; commands do not. */
  readonly commit?: ((writes: readonly LedgerWrite[]) => Promise<void>) | undefined;
  readonly rehearse?: LedgerStore["rehearse"];
  readonly watch: LedgerStore["watch"];
  readonly rollups: LedgerStore["rollups"];
}

/** Erased in one statement. */
const claimsAtOnce = 500;

export function createLedgerStore(options: LedgerStoreOptions): LedgerStore {
  const { pool, commit, rehearse, watch, rollups } = options;
  return {
    watch,
    rollups,
    rehearse,
    async commit(writes) {
      if (commit === undefined) throw new Error("this process has no epoch to charge calls in");
      await commit(writes);
    },
    leases: () => readLeases(pool),
    async lease(accountId) {
      const [lease] = await readLeases(pool, accountId);
      return lease;
    },
    budgetSpends: (fromMs) => readBudgetSpends(pool, fromMs),
    setLimits: (change) => setLimits(pool, change),
    addEntry: (entry, audit) => addEntry(pool, entry, audit),
    entries: (accountId) => readEntries(pool, accountId),
    recentCounts: () => readRecentCounts(pool),
    async findClaim(id) {
      const text = "select * from claims where id = $1";
      const values = [id];
      const [row] = await query<ClaimRow>(pool, { text, values, answerMs: deadlines.statement });
      return row && toClaim(row);
    },
    // Claims of a process that is gone are freed with its epoch.
    async releaseRunningClaims() {},
    async eraseClaims(nowMs) {
      const { rowCount } = await pool.query({
        text: `delete from claims where id in (select id from claims where expires_at_ms <= $1
          order by id limit ${claimsAtOnce} for update skip locked)`,
        values: [nowMs],
        answerMs: deadlines.long,
      });
      return rowCount ?? 0;
    },
  };
}

/** Anything that can be asked: the pool, or one connection with its moment. */
export type Queries = Pick<Pool, "query">;

/** What accounts had and have spent, whoever has what is left. */
export async function readLeases(queries: Queries, accountId?: string): Promise<readonly Lease[]> {
  const { rows } = await queries.query<{ account_id: string; granted: string; spent: string }>({
    text: `select accounts.id as account_id,
        cast(unleased + settled + coalesce(sum(granted), 0) as text) as granted,
        cast(settled + coalesce(sum(spent), 0) as text) as spent
      from accounts left join leases on leases.account_id = accounts.id
      where $1::text is null or accounts.id = $1
      group by accounts.id order by accounts.id`,
    values: [accountId ?? null],
    answerMs: accountId === undefined ? deadlines.long : deadlines.statement,
  });
  return rows.map((row) => ({
    accountId: row.account_id,
    granted: BigInt(row.granted),
    spent: BigInt(row.spent),
  }));
}

export async function readBudgetSpends(
  queries: Queries,
  fromMs = 0,
): Promise<readonly BudgetSpend[]> {
  const { rows } = await queries.query<{
    owner_id: string;
    period_start_ms: number;
    spent: string;
  }>({
    text: `select owner_id, period_start_ms, cast(sum(spent) as text) as spent from (
        select owner_id, period_start_ms, spent from budget_spends
        union all select owner_id, period_start_ms, spent from budget_leases) spends
      where period_start_ms >= $1 or period_start_ms = 0
      group by 1, 2 having sum(spent) <> 0 order by 1, 2`,
    values: [fromMs],
    answerMs: deadlines.long,
  });
  return rows.map((row) => ({
    ownerId: row.owner_id,
    periodStartMs: row.period_start_ms,
    spent: BigInt(row.spent),
  }));
}

export async function readEntries(queries: Queries, accountId?: string): Promise<readonly Entry[]> {
  const { rows } = await queries.query<EntryRow>({
    text: `select ${entryFields} from entries where $1::text is null or account_id = $1 order by id`,
    values: [accountId ?? null],
    answerMs: deadlines.long,
  });
  return rows.map(toEntry);
}

/** Looked at when a process starts: so many that every busy model is among them. */
const recentReceipts = 20_000;

async function readRecentCounts(queries: Queries): Promise<readonly CountedReceipt[]> {
  const { rows } = await queries.query<{ model: string; output: number; reasoning: number }>({
    text: `select model, output, reasoning from (
        select id, model, endpoint, output, reasoning, estimated from receipts
        order by id desc limit ${recentReceipts}) recent
      where endpoint = 'chat' and estimated = 0 order by id`,
    answerMs: deadlines.long,
  });
  return rows.map(({ model, output, reasoning }) => ({
    model,
    endpoint: "chat",
    estimated: false,
    units: { output },
    reasoningTokens: reasoning,
  }));
}

interface ClaimRow {
  readonly id: string;
  readonly body_hash: string;
  readonly request_id: string;
  readonly is_done: number;
  readonly expires_at_ms: number;
  readonly reply: Buffer | null;
}

function toClaim(row: ClaimRow): Claim {
  return {
    id: row.id,
    bodyHash: row.body_hash,
    requestId: row.request_id,
    isDone: row.is_done === 1,
    reply: row.reply === null ? undefined : new Uint8Array(row.reply),
    expiresAtMs: row.expires_at_ms,
  };
}
