import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { SpendQuery } from "../../../ledger/reports.ts";
import { dayMs, toDay } from "../../../ledger/rollups.ts";
import { toFoldMark } from "../../sqlite/reports/rollup-fold.ts";

/**
 * What each key of some accounts was charged since the start of a day: from the sums by day, and from
 * those by hour where they are not in these yet. Called within one transaction.
 */
export function readKeySpending(
  raw: Database,
  { accountIds, fromMs, toMs }: SpendQuery,
): ReadonlyMap<string, bigint> {
  const mark = "select value from meta where key = 'rollups_folded_to_ms'";
  const folded = toFoldMark(raw.query<{ value: string }, []>(mark).get()?.value);
  const firstMs = toDay(fromMs);
  const rows = raw
    .query<{ key: string; charged: string }, SQLQueryBindings[]>(
      `with recursive steps(at) as
        (values (?) union all select at + ${dayMs} from steps where at + ${dayMs} < ?),
        wanted(id) as materialized (select value from json_each(?))
      select key_id as key, cast(sum(charged) as text) as charged from (
        select key_id, charged from steps cross join wanted cross join rollup_days
          on day_ms = at and account_id = wanted.id
        union all
        select key_id, charged from rollups
          where hour_ms >= ? and hour_ms < ? and account_id in (select id from wanted)
            and (hour_ms, account_id, key_id) > (?, ?, ?))
      group by key_id`,
    )
    .all(
      firstMs,
      toMs,
      JSON.stringify(accountIds),
      Math.max(firstMs, folded.hourMs),
      toMs,
      folded.hourMs,
      folded.accountId,
      folded.keyId,
    );
  return new Map(rows.map(({ key, charged }) => [key, BigInt(charged)]));
}
