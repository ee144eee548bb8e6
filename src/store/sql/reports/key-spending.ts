import type { SpendQuery } from "../../../ledger/reports.ts";
import { dayMs, toDay } from "../../../ledger/rollups.ts";
import { readFoldMark } from "./fold-mark.ts";
import type { SqlReader } from "./sql-reader.ts";
import { stepsSql } from "./usage-steps.ts";

/**
 * What each key of some accounts was charged since the start of a day: from the sums by day, and from
 * those by hour where they are not in these yet. Called within one transaction.
 */
export async function readKeySpending(
  reader: SqlReader,
  { accountIds, fromMs, toMs }: SpendQuery,
): Promise<ReadonlyMap<string, bigint>> {
  const { join, textsOf } = reader.words;
  const folded = await readFoldMark(reader);
  const firstMs = toDay(fromMs);
  const rows = await reader.rows<{ key: string; charged: string }>(
    `with recursive ${stepsSql(dayMs)},
      wanted(id) as materialized (select value from ${textsOf} as texts)
    select key_id as key, cast(sum(charged) as text) as charged from (
      select key_id, charged from steps cross join wanted ${join} rollup_days
        on day_ms = at and account_id = wanted.id
      union all
      select key_id, charged from rollups
        where hour_ms >= ? and hour_ms < ? and account_id in (select id from wanted)
          and (hour_ms, account_id, key_id) > (?, ?, ?)) as spent
    group by key_id`,
    [
      firstMs,
      toMs,
      JSON.stringify(accountIds),
      Math.max(firstMs, folded.hourMs),
      toMs,
      folded.hourMs,
      folded.accountId,
      folded.keyId,
    ],
  );
  return new Map(rows.map(({ key, charged }) => [key, BigInt(charged)]));
}
