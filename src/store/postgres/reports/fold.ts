import type { ClientBase, Pool } from "pg";
import { type FoldMark, hourMs } from "../../../ledger/rollups.ts";
import { rollupKeys, sumColumns } from "../../sql/reports/rollup-columns.ts";
import { lockSql, tryLockSql } from "../locks.ts";
import { transact } from "../transaction.ts";
import { addFolded, readMark } from "./rollup-rows.ts";

/** Added in one transaction: who adds sums waits for it. */
const rowsAtOnce = 30;
/** Behind every id. */
const lastId = "\u{10ffff}";

/**
 * A piece of the oldest hour that is closed for every epoch, to its day and to the totals; false
 * when there is none, or another process is at it.
 *
 * Locks: `folding` for one process at a time, without waiting; then `sums` alone, so that nobody
 * adds in between. An hour that opens again meanwhile has its late rows added after this, and these
 * find the mark behind them and go to the day as well.
 */
export const foldPiece = (pool: Pool, beforeMs: number): Promise<boolean> =>
  transact(pool, async (client) => {
    const tried = await client.query<{ has: boolean }>(tryLockSql("folding"));
    if (tried.rows[0]?.has !== true) return false;
    await client.query(lockSql("sums"));
    const mark = await readMark(client);
    const hour = await nextHour(client, { mark, beforeMs });
    if (hour === undefined) return false;
    const from = mark.hourMs === hour ? mark : { accountId: "", keyId: "" };
    const last = await endOfPiece(client, { hour, from });
    const to = last ?? { accountId: lastId, keyId: "" };
    await addFolded(client, {
      sql: `select ${[...rollupKeys, ...sumColumns].join(", ")} from rollups where hour_ms = $1
        and (account_id, key_id) > ($2, $3) and (account_id, key_id) <= ($4, $5)`,
      values: [hour, from.accountId, from.keyId, to.accountId, to.keyId],
    });
    const moved = last === undefined ? hour + hourMs : `${hour} ${last.accountId} ${last.keyId}`;
    await client.query(
      `insert into meta (key, value) values ('rollups_folded_to_ms', $1)
        on conflict (key) do update set value = excluded.value`,
      [String(moved)],
    );
    return true;
  });

/** The oldest hour with rows that are in no day yet. */
async function nextHour(
  client: ClientBase,
  { mark, beforeMs }: { readonly mark: FoldMark; readonly beforeMs: number },
): Promise<number | undefined> {
  const { rows } = await client.query<{ hour: number | null }>(
    `select min(hour_ms) as hour from rollups
      where hour_ms >= $1 and hour_ms < least($2, (select min(open_from_ms) from epochs))
        and (hour_ms, account_id, key_id) > ($1, $3, $4)`,
    [mark.hourMs, beforeMs, mark.accountId, mark.keyId],
  );
  return rows[0]?.hour ?? undefined;
}

/** The last key of the piece; undefined where the hour ends in it. */
async function endOfPiece(
  client: ClientBase,
  of: { readonly hour: number; readonly from: Omit<FoldMark, "hourMs"> },
): Promise<Omit<FoldMark, "hourMs"> | undefined> {
  const { rows } = await client.query<{ account_id: string; key_id: string }>(
    `select account_id, key_id from rollups where hour_ms = $1 and (account_id, key_id) > ($2, $3)
      order by account_id, key_id limit 1 offset ${rowsAtOnce - 1}`,
    [of.hour, of.from.accountId, of.from.keyId],
  );
  const [row] = rows;
  return row && { accountId: row.account_id, keyId: row.key_id };
}
