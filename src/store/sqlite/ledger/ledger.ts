import { type Selectable, sql } from "kysely";
import type { AuditRecord } from "../../../base/audit.ts";
import { maxEntryNano } from "../../../base/money.ts";
import {
  type Claim,
  type Entry,
  type EntryOutcome,
  type Lease,
  type LedgerStore,
} from "../../../ledger/store.ts";
import type { CountedReceipt } from "../../../ledger/tokens/reasoning.ts";
import { addAudit } from "../../sql/audit.ts";
import { announce } from "../../sql/feed.ts";
import { toEntry } from "../../sql/ledger/entry-row.ts";
import { type Db, localNode, type Tables } from "../../sql/schema.ts";
import { type AddSums, createRollupStore, type SumsMark } from "../reports/rollups.ts";

/** Erased in one turn of the event loop. */
const claimsAtOnce = 4;

const leaseFields = ["account_id", text("granted"), text("spent")] as const;
const entryFields = [
  "id",
  "account_id",
  "kind",
  text("nano"),
  "reference",
  "note",
  "created_at_ms",
] as const;

/** Money is read as text: a number would lose digits. */
function text<const T extends string>(column: T) {
  return sql<string>`cast(${sql.ref(column)} as text)`.as(column);
}

export function createLedgerStore(options: {
  readonly db: Db;
  readonly sums: SumsMark;
  readonly commit: LedgerStore["commit"];
  readonly addSums: AddSums;
  readonly fold: LedgerStore["rollups"]["fold"];
  readonly watch: LedgerStore["watch"];
  readonly setLimits: LedgerStore["setLimits"];
}): LedgerStore {
  const { db, sums, commit, addSums, fold, watch, setLimits } = options;
  return {
    commit,
    watch,
    rollups: createRollupStore({ db, mark: sums, addSums, fold }),
    leases: () => readLeases(db),
    async lease(accountId) {
      const row = await db
        .selectFrom("leases")
        .select(leaseFields)
        .where("account_id", "=", accountId)
        .where("node", "=", localNode)
        .executeTakeFirst();
      return row && toLease(row);
    },
    budgetSpends: (fromMs) => readBudgetSpends(db, fromMs),
    setLimits,
    addEntry: (entry, audit) => addEntry(db, entry, audit),
    async entries(accountId) {
      const rows = await db
        .selectFrom("entries")
        .select(entryFields)
        .where("account_id", "=", accountId)
        .orderBy("id")
        .execute();
      return rows.map(toEntry);
    },
    recentCounts: () => readRecentCounts(db),
    async findClaim(id) {
      const row = await db.selectFrom("claims").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toClaim(row);
    },
    async releaseRunningClaims() {
      await db.deleteFrom("claims").where("is_done", "=", 0).execute();
    },
    async eraseClaims(nowMs) {
      const old = db
        .selectFrom("claims")
        .select("id")
        .where("expires_at_ms", "<=", nowMs)
        .limit(claimsAtOnce);
      const { numDeletedRows } = await db
        .deleteFrom("claims")
        .where("id", "in", old)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}

/** Looked at when a process starts: so many that every busy model is among them. */
const recentReceipts = 20_000;

async function readRecentCounts(db: Db): Promise<readonly CountedReceipt[]> {
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom("receipts")
        .select(["id", "model", "endpoint", "output", "reasoning", "estimated"])
        .orderBy("id", "desc")
        .limit(recentReceipts)
        .as("recent"),
    )
    .select(["model", "output", "reasoning"])
    .where("endpoint", "=", "chat")
    .where("estimated", "=", 0)
    .orderBy("id")
    .execute();
  return rows.map(({ model, output, reasoning }) => ({
    model,
    endpoint: "chat",
    estimated: false,
    units: { output },
    reasoningTokens: reasoning,
  }));
}

export async function readLeases(db: Db): Promise<readonly Lease[]> {
  const rows = await db
    .selectFrom("leases")
    .select(leaseFields)
    .where("node", "=", localNode)
    .execute();
  return rows.map(toLease);
}

export async function readBudgetSpends(db: Db, fromMs = 0) {
  const rows = await db
    .selectFrom("budget_spends")
    .select(["owner_id", "period_start_ms", text("spent")])
    .where((where) =>
      where.or([where("period_start_ms", ">=", fromMs), where("period_start_ms", "=", 0)]),
    )
    .execute();
  return rows.map((row) => ({
    ownerId: row.owner_id,
    periodStartMs: row.period_start_ms,
    spent: BigInt(row.spent),
  }));
}

export async function readEntries(db: Db): Promise<readonly Entry[]> {
  const rows = await db.selectFrom("entries").select(entryFields).orderBy("id").execute();
  return rows.map(toEntry);
}

function addEntry(db: Db, entry: Entry, audit: AuditRecord): Promise<EntryOutcome> {
  return db.transaction().execute(async (transaction): Promise<EntryOutcome> => {
    const known = await transaction
      .selectFrom("entries")
      .select(entryFields)
      .where("account_id", "=", entry.accountId)
      .where("reference", "=", entry.reference)
      .executeTakeFirst();
    if (known !== undefined) {
      const before = toEntry(known);
      const isSame = before.kind === entry.kind && before.nano === entry.nano;
      return { result: isSame ? "known" : "other", entry: before };
    }
    const lease = await transaction
      .selectFrom("leases")
      .select(leaseFields)
      .where("account_id", "=", entry.accountId)
      .where("node", "=", localNode)
      .executeTakeFirstOrThrow();
    const { granted, spent } = toLease(lease);
    if (granted + entry.nano < spent) return { result: "short", balance: granted - spent };
    if (granted + entry.nano > maxEntryNano)
      return { result: "too-much", balance: granted - spent };
    await transaction
      .insertInto("entries")
      .values({
        id: entry.id,
        account_id: entry.accountId,
        kind: entry.kind,
        nano: entry.nano,
        reference: entry.reference,
        note: entry.note,
        created_at_ms: entry.createdAtMs,
      })
      .execute();
    await transaction
      .updateTable("leases")
      .set({ granted: granted + entry.nano })
      .where("account_id", "=", entry.accountId)
      .where("node", "=", localNode)
      .execute();
    await announce(transaction, { topic: "accounts", subject: entry.accountId });
    await addAudit(transaction, audit);
    return { result: "added", entry };
  });
}

function toLease(row: { account_id: string; granted: string; spent: string }): Lease {
  return {
    accountId: row.account_id,
    granted: BigInt(row.granted),
    spent: BigInt(row.spent),
  };
}

function toClaim(row: Selectable<Tables["claims"]>): Claim {
  return {
    id: row.id,
    bodyHash: row.body_hash,
    requestId: row.request_id,
    isDone: row.is_done === 1,
    reply: row.reply ?? undefined,
    expiresAtMs: row.expires_at_ms,
  };
}
