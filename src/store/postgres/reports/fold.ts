import type { ClientBase, Pool } from "pg";
import { type FoldMark, hourMs } from "../../../ledger/rollups.ts";
import { rollupKeys, sumColumns } from "../../sql/reports/rollup-columns.ts";
import { deadlines } from "../deadlines.ts";
import { lockHourSql, lockSql, shareSql, tryLockSql } from "../locks.ts";
import { transact } from "../transaction.ts";
import { addFolded, readMark } from "./rollup-rows.ts";

interface Fold {
  readonly beforeMs: number;
  /** Added in one transaction: nobody adds to the same hour meanwhile. */
  readonly rowsAtOnce: number;
}

const overMany = { answerMs: deadlines.long };

/** Behind every id. */
const lastId = "\u{10ffff}";

/**
 * A piece of the oldest hour that is closed for every epoch, to its day and to the totals; false
 * when there is none, or another process is at it.
 *
 * Locks: `folding` for one process at a time, without waiting; then `sums` together with all who
 * add, and the hour alone, so that nobody adds to it in between. An hour that opens again meanwhile
 * has its late rows added after this, and these find the mark behind them and go to the day as well.
 */
export async function foldPiece(pool: Pool, fold: Fold): Promise<boolean> {
  const first = await transact(pool, (client) => foldNext(client, fold), overMany);
  if (first !== "gap") return first === "folded";
  await transact(pool, (client) => skipGap(client, fold), overMany);
  return (await transact(pool, (client) => foldNext(client, fold), overMany)) === "folded";
}

async function foldNext(
  client: ClientBase,
  { beforeMs, rowsAtOnce }: Fold,
): Promise<"folded" | "gap" | "nothing"> {
  if (!(await isAlone(client))) return "nothing";
  await client.query(shareSql("sums"));
  const mark = await readMark(client);
  const hour = await nextHour(client, { mark, beforeMs });
  if (hour === undefined) return "nothing";
  if (hour !== mark.hourMs) return "gap";
  await client.query(lockHourSql(hour));
  const last = await endOfPiece(client, { mark, rowsAtOnce });
  const to = last ?? { accountId: lastId, keyId: "" };
  await addFolded(client, {
    sql: `select ${[...rollupKeys, ...sumColumns].join(", ")} from rollups where hour_ms = $1
      and (account_id, key_id) > ($2, $3) and (account_id, key_id) <= ($4, $5)`,
    values: [hour, mark.accountId, mark.keyId, to.accountId, to.keyId],
  });
  await moveMark(
    client,
    last === undefined ? String(hour + hourMs) : `${hour} ${last.accountId} ${last.keyId}`,
  );
  return "folded";
}

/**
 * The mark, to the next hour that has rows. For a moment nobody adds at all: rows of an hour that is
 * skipped would be taken for folded.
 */
async function skipGap(client: ClientBase, { beforeMs }: Fold): Promise<void> {
  if (!(await isAlone(client))) return;
  await client.query(lockSql("sums"));
  const hour = await nextHour(client, { mark: await readMark(client), beforeMs });
  if (hour !== undefined) await moveMark(client, String(hour));
}

async function isAlone(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>(tryLockSql("folding"));
  return rows[0]?.has === true;
}

async function moveMark(client: ClientBase, value: string): Promise<void> {
  await client.query(
    `insert into meta (key, value) values ('rollups_folded_to_ms', $1)
      on conflict (key) do update set value = excluded.value`,
    [value],
  );
}

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
  { mark, rowsAtOnce }: { readonly mark: FoldMark; readonly rowsAtOnce: number },
): Promise<Omit<FoldMark, "hourMs"> | undefined> {
  const { rows } = await client.query<{ account_id: string; key_id: string }>(
    `select account_id, key_id from rollups where hour_ms = $1 and (account_id, key_id) > ($2, $3)
      order by account_id, key_id limit 1 offset $4`,
    [mark.hourMs, mark.accountId, mark.keyId, rowsAtOnce - 1],
  );
  const [row] = rows;
  return row && { accountId: row.account_id, keyId: row.key_id };
}
