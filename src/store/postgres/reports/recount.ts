import type { ClientBase } from "pg";
import { idFloor, idTimeMs } from "../../../base/ids.ts";
import { minuteMs, minutesMs, toMinute } from "../../../ledger/minutes.ts";
import { hourMs, toDay } from "../../../ledger/rollups.ts";
import { startOf, sumColumns, sumsOfReceipts } from "../../sql/reports/rollup-columns.ts";
import { setDeadline } from "../client.ts";
import { deadlines, recountStatementMs } from "../deadlines.ts";
import { lockSql } from "../locks.ts";
import { postgresWords } from "./postgres-reader.ts";
import { epochKeys, readMark } from "./rollup-rows.ts";

const sums = sumColumns.join(", ");

/**
 * Closes the sums of an epoch that is closed: sums up again what its process may not have added, and
 * takes its mark away. Once more changes nothing, and beside another one nothing either. Within a
 * transaction of its own.
 */
export async function recountEpoch(client: ClientBase, epoch: number): Promise<void> {
  const { rows } = await client.query<{ open_from_ms: number | null }>(
    "select open_from_ms from epochs where id = $1 and not is_open for update skip locked",
    [epoch],
  );
  const fromMs = rows[0]?.open_from_ms ?? undefined;
  if (fromMs !== undefined) await recountFrom(client, { epoch, fromMs });
}

/**
 * Locks: first the row of the epoch, which keeps off its own adding; last, and for a moment alone,
 * the sums of all, because days that have wrong hours are taken away.
 */
export async function recountFrom(
  client: ClientBase,
  of: {
    readonly epoch: number;
    readonly fromMs: number;
    /** Only hours before it; the epoch's mark stays. Absent: all of them. */
    readonly toMs?: number;
  },
): Promise<void> {
  const { epoch, toMs } = of;
  const fromMs = Math.max(of.fromMs, await newestMark(client));
  // An hour may have millions of receipts.
  setDeadline(client, deadlines.recount);
  await client.query(`set local statement_timeout = ${recountStatementMs}`);
  if (toMs === undefined)
    await client.query("update epochs set open_from_ms = null where id = $1", [epoch]);
  await client.query(
    "delete from rollups where epoch = $1 and hour_ms >= $2 and ($3::bigint is null or hour_ms < $3)",
    [epoch, fromMs, toMs ?? null],
  );
  await client.query(
    `insert into rollups (${epochKeys.join(", ")}, ${sums})
      select ${startOf(hourMs, postgresWords)}, account_id, key_id, model, provider, epoch,
        ${sumsOfReceipts}
      from receipts where epoch = $1 and id >= $2 and ($3::text is null or id < $3)
      group by 1, 2, 3, 4, 5, 6`,
    [epoch, idFloor("req", fromMs), toMs === undefined ? null : idFloor("req", toMs)],
  );
  // By then, nobody reads the minutes of hours that have ended.
  if (toMs === undefined) await recountMinutes(client, { epoch, fromMs });
  await client.query(lockSql("sums"));
  await unfold(client, fromMs);
}

/** Of hours from before it there are only sums: receipts may be gone. */
async function newestMark(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number | null }>(
    "select max(kept_from_ms) as ms from receipt_marks",
  );
  return rows[0]?.ms ?? 0;
}

/** The last hour that the epoch wrote; what is too old by now is deleted with all that is. */
async function recountMinutes(
  client: ClientBase,
  { epoch, fromMs }: { readonly epoch: number; readonly fromMs: number },
): Promise<void> {
  const { rows } = await client.query<{ id: string | null }>(
    "select max(id) as id from receipts where epoch = $1 and id >= $2",
    [epoch, idFloor("req", fromMs)],
  );
  const newest = rows[0]?.id;
  if (typeof newest !== "string") return;
  const minute = Math.max(fromMs, toMinute(idTimeMs(newest)) - minutesMs + minuteMs);
  await client.query("delete from minute_sums where epoch = $1 and start_ms >= $2", [
    epoch,
    minute,
  ]);
  await client.query(
    `insert into minute_sums (start_ms, account_id, key_id, model, epoch, ${sums})
      select ${startOf(minuteMs, postgresWords)}, account_id, key_id, model, epoch, ${sumsOfReceipts}
      from receipts where epoch = $1 and id >= $2 group by 1, 2, 3, 4, 5`,
    [epoch, idFloor("req", minute)],
  );
}

/** The days from this hour's on are made of their hours again, as these are closed. */
async function unfold(client: ClientBase, fromMs: number): Promise<void> {
  const mark = await readMark(client);
  if (fromMs > mark.hourMs || (fromMs === mark.hourMs && mark.accountId === "")) return;
  const day = toDay(fromMs);
  await client.query("delete from rollup_days where day_ms >= $1", [day]);
  await client.query("delete from rollup_totals where start_ms >= $1", [day]);
  await client.query("update meta set value = $1 where key = 'rollups_folded_to_ms'", [
    String(day),
  ]);
}
