import type { Pool, PoolClient } from "pg";
import { idFloor } from "../../../base/ids.ts";
import { Problem } from "../../../base/problem.ts";
import { type BudgetSpan, budgetSpans, type Limits } from "../../../call/limits.ts";
import { dayMs } from "../../../ledger/rollups.ts";
import type { BudgetSpend, LimitsChange, LimitsOwner, LimitsSet } from "../../../ledger/store.ts";
import { fromLimits, toLimits } from "../../sql/ledger/limits-text.ts";
import { announceChange, writeAudit } from "../changes.ts";
import { deadlines } from "../deadlines.ts";
import { sharersSql } from "../locks.ts";
import { brief, transact } from "../transaction.ts";

/** Others may change the same limits in between. */
const attempts = 5;
const lookEveryMs = 5;
/** A budget adds up the receipts of its period. */
const overMany = { ...brief, answerMs: deadlines.long };

/** The limits of an owner, as a change finds them. */
interface Found {
  readonly limits: Limits | undefined;
  readonly version: number;
}

/**
 * A budget counts all charges of its period. Calls go on while these are added up:
 *
 * 1. The owner gets a budget of this period that lends nothing. It is not announced, so processes
 *    admit calls as before; but a commit compares versions, and from here on counts for the budget.
 * 2. Commits that may have begun before it end. No others are waited for.
 * 3. What receipts say and the budget has not counted is the same at every moment from here on. It is
 *    added up without a lock, and written together with the limits that were asked for.
 *
 * Where the owner has a budget of this period already, its count is exact, and goes on. After a crash
 * in between the owner has a budget of 0, which the next change of it completes.
 */
export async function setLimits(pool: Pool, change: LimitsChange): Promise<void> {
  for (let left = attempts; left > 0; left--) {
    const first = await transact(pool, (client) => begin(client, change), brief);
    const set = "counting" in first ? await finish(pool, change, first) : first;
    if (set !== undefined) return change.onSet(set);
  }
  throw new Problem({
    code: "conflict",
    message: "Others keep changing the same limits. Try again.",
  });
}

/** Counting, and not announced. */
interface Begun {
  readonly counting: Found;
  readonly before: Found;
  readonly nowMs: number;
}

/** Sets limits whose budget has nothing to add up, or lets a budget count. */
async function begin(client: PoolClient, change: LimitsChange): Promise<LimitsSet | Begun> {
  const { owner, limits } = change;
  const before = await lockOwner(client, owner);
  const nowMs = change.nowMs();
  const period = limits?.budget?.period;
  const known = before.limits?.budget;
  // A budget of 0 may be one that was never finished.
  if (period === undefined || (known?.period === period && known.nano > 0n))
    return writeLimits(client, change, { before, nowMs });
  if (known?.period === period) return { counting: before, before, nowMs };
  const counting = { ...before.limits, budget: { nano: 0n, period } };
  const version = await writeVersion(client, { owner, limits: counting, nowMs, before });
  // A receipt that is taken out again before the sum is written finds its row.
  for (const { fromMs } of budgetSpans(period, nowMs))
    await client.query(
      `insert into budget_spends (owner_id, period_start_ms, spent) values ($1, $2, 0)
        on conflict do nothing`,
      [idOf(owner), fromMs],
    );
  return { counting: { limits: counting, version }, before, nowMs };
}

/** Undefined when others have changed the limits meanwhile. */
async function finish(
  pool: Pool,
  change: LimitsChange,
  { counting, before, nowMs }: Begun,
): Promise<LimitsSet | undefined> {
  const { owner } = change;
  const isUnchanged = async (client: PoolClient) =>
    (await lockOwner(client, owner)).version === counting.version;
  try {
    await untilSharersEnd(pool);
    return await transact(
      pool,
      async (client) => {
        const missing: { readonly fromMs: number; readonly nano: bigint }[] = [];
        for (const span of spansOf(change.limits, nowMs))
          missing.push({ fromMs: span.fromMs, nano: await missingIn(client, owner, span) });
        // Loans wait for this row, so it is locked only now.
        if (!(await isUnchanged(client))) return undefined;
        for (const { fromMs, nano } of missing)
          await addSpend(client, { ownerId: idOf(owner), periodStartMs: fromMs, spent: nano });
        return writeLimits(client, change, { before: counting, nowMs });
      },
      overMany,
    );
  } catch (error) {
    // An earlier budget of another period lacks what came late meanwhile, so the owner stays at 0.
    if (before.limits?.budget === undefined)
      await transact(
        pool,
        async (client) => {
          if (await isUnchanged(client))
            await writeVersion(client, { owner, limits: before.limits, nowMs, before: counting });
        },
        brief,
      ).catch(() => {});
    throw error;
  }
}

const tableOf = ({ keyId }: LimitsOwner) => (keyId === undefined ? "accounts" : "keys");
const idOf = ({ accountId, keyId }: LimitsOwner) => keyId ?? accountId;

const spansOf = (limits: Limits | undefined, nowMs: number) =>
  limits?.budget === undefined ? [] : budgetSpans(limits.budget.period, nowMs);

/** Locks the owner, so that no other transaction changes its limits before this one ends. */
async function lockOwner(client: PoolClient, owner: LimitsOwner): Promise<Found> {
  const { rows } = await client.query<{ limits: string | null; limits_version: number }>(
    `select limits, limits_version from ${tableOf(owner)} where id = $1 for no key update`,
    [idOf(owner)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`${idOf(owner)} does not exist`);
  return { limits: toLimits(row).limits, version: row.limits_version };
}

/** The locks that commits and loans hold from before they read versions until they end. */
async function untilSharersEnd(pool: Pool): Promise<void> {
  const untilMs = performance.now() + deadlines.long;
  const read = async () =>
    (await pool.query<{ holder: string }>(sharersSql("limits"))).rows.map(({ holder }) => holder);
  let left = await read();
  while (left.length > 0) {
    if (performance.now() > untilMs) throw new Error("calls are not written within 35 seconds");
    await Bun.sleep(lookEveryMs);
    const now = new Set(await read());
    left = left.filter((holder) => now.has(holder));
  }
}

async function writeLimits(
  client: PoolClient,
  { owner, limits, audit }: LimitsChange,
  { before, nowMs }: { readonly before: Found; readonly nowMs: number },
): Promise<LimitsSet> {
  const version = await writeVersion(client, { owner, limits, nowMs, before });
  const spends: BudgetSpend[] = [];
  for (const { fromMs } of spansOf(limits, nowMs))
    spends.push(await readSpend(client, { ownerId: idOf(owner), periodStartMs: fromMs }));
  await writeAudit(client, audit);
  await announceChange(client, { topic: tableOf(owner), subject: idOf(owner) });
  return { version, nowMs, spends };
}

/** Of an owner whose row is locked. */
async function writeVersion(
  client: PoolClient,
  of: {
    readonly owner: LimitsOwner;
    readonly limits: Limits | undefined;
    readonly nowMs: number;
    readonly before: Found;
  },
): Promise<number> {
  const version = of.before.version + 1;
  const values = [idOf(of.owner), version, fromLimits(of.limits)];
  await client.query(
    `update ${tableOf(of.owner)} set limits = $3, limits_version = $2 where id = $1`,
    values,
  );
  await client.query(
    `insert into limit_versions (owner_id, version, limits, effective_at_ms)
      values ($1, $2, $3, $4)`,
    [...values, of.nowMs],
  );
  return version;
}

/** What a budget has counted in one period, by the parameters of its owner and of the start. */
const countedSql = (owner: string, start: string) => `coalesce((select spent from budget_spends
    where owner_id = ${owner} and period_start_ms = ${start}), 0)
  + coalesce((select sum(spent) from budget_leases
    where owner_id = ${owner} and period_start_ms = ${start}), 0)`;

async function readSpend(
  client: PoolClient,
  { ownerId, periodStartMs }: Omit<BudgetSpend, "spent">,
): Promise<BudgetSpend> {
  const { rows } = await client.query<{ spent: string }>(
    `select cast(${countedSql("$1", "$2")} as text) as spent`,
    [ownerId, periodStartMs],
  );
  return { ownerId, periodStartMs, spent: BigInt(rows[0]?.spent ?? 0) };
}

async function addSpend(
  client: PoolClient,
  { ownerId, periodStartMs, spent }: BudgetSpend,
): Promise<void> {
  await client.query(
    `insert into budget_spends (owner_id, period_start_ms, spent) values ($1, $2, $3)
      on conflict (owner_id, period_start_ms)
        do update set spent = budget_spends.spent + excluded.spent`,
    [ownerId, periodStartMs, spent],
  );
  await client.query(
    "delete from budget_spends where owner_id = $1 and period_start_ms = $2 and spent = 0",
    [ownerId, periodStartMs],
  );
}

/**
 * What was charged, less what the budget has counted, at one moment: from the sums of whole days,
 * then of hours that are closed for every process, then from the receipts.
 */
async function missingIn(
  client: PoolClient,
  owner: LimitsOwner,
  { fromMs, toMs }: BudgetSpan,
): Promise<bigint> {
  const { accountId, keyId } = owner;
  const isOwners = "account_id = $1 and ($2::text is null or key_id = $2)";
  const { rows } = await client.query<{ missing: string }>(
    `with marks as (select
        coalesce((select min(open_from_ms) from epochs), $7::bigint) as open_ms,
        coalesce((select split_part(value, ' ', 1)::bigint / ${dayMs} * ${dayMs} from meta
          where key = 'rollups_folded_to_ms'), 0) as day_ms)
      select cast(
        coalesce((select sum(charged) from rollup_days, marks
          where rollup_days.day_ms >= $3 and rollup_days.day_ms < least($4, marks.day_ms)
            and ${isOwners}), 0)
        + coalesce((select sum(charged) from rollups, marks
          where hour_ms >= greatest($3, marks.day_ms) and hour_ms < least($4, open_ms)
            and ${isOwners}), 0)
        + coalesce((select sum(charged) from receipts
          where id >= (select greatest($5, 'req_' || lpad(to_hex(open_ms), 12, '0')) from marks)
            and id < $6 and ${isOwners}), 0)
        - (${countedSql("$8", "$3")})
        as text) as missing`,
    [
      accountId,
      keyId ?? null,
      fromMs,
      toMs,
      idFloor("req", fromMs),
      idFloor("req", Math.min(toMs, maxIdMs)),
      maxIdMs,
      idOf(owner),
    ],
  );
  return BigInt(rows[0]?.missing ?? 0);
}

/** Beyond all times that ids can have. */
const maxIdMs = 2 ** 48 - 1;
