import type { PoolClient } from "pg";
import { releasePermits } from "../limits/permits.ts";
import { epochLockSql, shareSql } from "../locks.ts";
import { forgetTargets } from "../shared/targets.ts";

/** When an epoch was last renewed, exactly: in microseconds, as text. */
export const heartbeatSql = "(extract(epoch from renewed_at) * 1000000)::bigint::text";

/**
 * Closes the epoch of a node: its money goes back to the accounts, its claims are free. A second
 * process finds it closed and changes nothing; a commit of the node itself comes before, or finds it
 * closed. Its sums may lack receipts until `recountEpoch` has run. False when it was closed already,
 * or has been renewed since this heartbeat.
 */
export async function closeEpoch(
  client: PoolClient,
  epoch: number,
  heartbeat?: string,
): Promise<boolean> {
  await client.query(shareSql("limits"));
  await client.query(epochLockSql, [epoch]);
  // A tick waits from here on, and finds it closed.
  const found = await client.query(
    `select 1 from epochs join heartbeats on epoch = id where id = $1 and is_open
      and ($2::text is null or ${heartbeatSql} = $2) for update of heartbeats`,
    [epoch, heartbeat ?? null],
  );
  if (found.rowCount === 0) return false;
  await client.query("update heartbeats set is_closed = true where epoch = $1", [epoch]);
  // Accounts in the order of their ids, as everywhere.
  await client.query(
    `select id from accounts
      where id in (select account_id from leases where epoch = $1) order by id for update`,
    [epoch],
  );
  await client.query(
    `with closed as (delete from leases where epoch = $1 returning account_id, granted, spent)
      update accounts set unleased = unleased + granted - spent, settled = settled + spent
      from closed where accounts.id = closed.account_id`,
    [epoch],
  );
  await client.query(
    `with closed as (
        delete from budget_leases where epoch = $1 returning owner_id, period_start_ms, spent)
      insert into budget_spends (owner_id, period_start_ms, spent)
        select owner_id, period_start_ms, spent from closed where spent > 0
        order by owner_id, period_start_ms
      on conflict (owner_id, period_start_ms)
        do update set spent = budget_spends.spent + excluded.spent`,
    [epoch],
  );
  await releasePermits(client, epoch);
  await forgetTargets(client, epoch);
  await client.query(
    `delete from claims where id in (
      select id from claims where epoch = $1 and is_done = 0 order by id for update)`,
    [epoch],
  );
  await client.query(
    "update epochs set is_open = false, closed_at = clock_timestamp() where id = $1",
    [epoch],
  );
  return true;
}
