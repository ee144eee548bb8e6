import { DatabaseError, type Pool, type PoolClient } from "pg";
import { idFloor } from "../../../base/ids.ts";
import { type BudgetSpan, budgetSpans } from "../../../call/limits.ts";
import { dayMs } from "../../../ledger/rollups.ts";
import type { BudgetSpend, LimitsChange, LimitsOwner, LimitsSet } from "../../../ledger/store.ts";
import { fromLimits } from "../../sql/ledger/limits-text.ts";
import { announceChange, writeAudit } from "../changes.ts";
import { deadlines } from "../deadlines.ts";
import { lockSql } from "../locks.ts";
import { brief, transact } from "../transaction.ts";

/** All commits wait while a budget is set: it gives way to one that takes long, and tries again. */
const waitMs = 1_000;
const attempts = 5;
/** A budget adds up the receipts of its period. */
const overMany = { ...brief, answerMs: deadlines.long };

/**
 * A budget starts with what was charged in its period. While that is added up no process commits
 * receipts, because all commits share the lock of limits: a receipt is in the sum, or it comes later,
 * finds that the limits have changed since its call was let in, and is added by its commit.
 */
export async function setLimits(pool: Pool, change: LimitsChange): Promise<void> {
  for (let left = attempts; ; left--)
    try {
      const set = await transact(pool, (client) => writeLimits(client, change), overMany);
      return change.onSet(set);
    } catch (error) {
      if (left === 0 || !isLockTimeout(error)) throw error;
    }
}

const isLockTimeout = (error: unknown) => error instanceof DatabaseError && error.code === "55P03";

async function lockLimits(client: PoolClient): Promise<void> {
  await client.query(`set local lock_timeout = ${waitMs}`);
  await client.query(lockSql("limits"));
}

async function writeLimits(client: PoolClient, change: LimitsChange): Promise<LimitsSet> {
  const { owner, limits, audit } = change;
  const { accountId, keyId } = owner;
  const ownerId = keyId ?? accountId;
  const topic = keyId === undefined ? "accounts" : "keys";
  const budget = limits?.budget;
  if (budget !== undefined) await lockLimits(client);
  const nowMs = change.nowMs();
  const text = fromLimits(limits);
  const changed = await client.query<{ version: number }>(
    `update ${topic} set limits = $2, limits_version = limits_version + 1 where id = $1
      returning limits_version as version`,
    [ownerId, text],
  );
  const version = changed.rows[0]?.version;
  if (version === undefined) throw new Error(`${ownerId} does not exist`);
  await client.query(
    `insert into limit_versions (owner_id, version, effective_at_ms, limits)
      values ($1, $2, $3, $4)`,
    [ownerId, version, nowMs, text],
  );
  const spends: BudgetSpend[] = [];
  for (const period of budget === undefined ? [] : budgetSpans(budget.period, nowMs))
    spends.push(await writeSpend(client, owner, period));
  await writeAudit(client, audit);
  await announceChange(client, { topic, subject: ownerId });
  return { version, nowMs, spends };
}

/**
 * What all receipts of the period say, less what leases of the same budget have spent: they count
 * that themselves.
 */
async function writeSpend(
  client: PoolClient,
  owner: LimitsOwner,
  { fromMs, toMs }: BudgetSpan,
): Promise<BudgetSpend> {
  const ownerId = owner.keyId ?? owner.accountId;
  const charged = await chargedIn(client, owner, { fromMs, toMs });
  const { rows } = await client.query<{ spent: string }>(
    `select cast(coalesce(sum(spent), 0) as text) as spent from budget_leases
      where owner_id = $1 and period_start_ms = $2`,
    [ownerId, fromMs],
  );
  const leased = BigInt(rows[0]?.spent ?? 0);
  if (charged === leased)
    await client.query("delete from budget_spends where owner_id = $1 and period_start_ms = $2", [
      ownerId,
      fromMs,
    ]);
  else
    await client.query(
      `insert into budget_spends (owner_id, period_start_ms, spent) values ($1, $2, $3)
        on conflict (owner_id, period_start_ms) do update set spent = excluded.spent`,
      [ownerId, fromMs, charged - leased],
    );
  return { ownerId, periodStartMs: fromMs, spent: charged };
}

/**
 * From the sums of whole days, then of hours that are closed for every process, then from the
 * receipts.
 */
async function chargedIn(
  client: PoolClient,
  { accountId, keyId }: LimitsOwner,
  { fromMs, toMs }: BudgetSpan,
): Promise<bigint> {
  const isOwners = "account_id = $1 and ($2::text is null or key_id = $2)";
  const { rows } = await client.query<{ charged: string }>(
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
        as text) as charged`,
    [
      accountId,
      keyId ?? null,
      fromMs,
      toMs,
      idFloor("req", fromMs),
      idFloor("req", Math.min(toMs, maxIdMs)),
      maxIdMs,
    ],
  );
  return BigInt(rows[0]?.charged ?? 0);
}

/** Beyond all times that ids can have. */
const maxIdMs = 2 ** 48 - 1;
