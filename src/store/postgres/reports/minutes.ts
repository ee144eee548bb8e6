import type { Pool } from "pg";
import { type GrownMinute, type MinuteStore, minuteMs } from "../../../ledger/minutes.ts";
import {
  durationColumns,
  endColumns,
  endValues,
  firstByteColumns,
} from "../../sql/reports/rollup-columns.ts";
import { deadlines } from "../deadlines.ts";
import { unnestSql } from "./unnest.ts";

const keys = ["start_ms", "account_id", "key_id", "model", "epoch"];
/** In the order of `figuresOf`; nothing else is shown by the minute. */
const figures = [
  "receipts",
  "failures",
  "input_tokens",
  "output_tokens",
  "charged",
  ...endColumns,
  ...durationColumns,
  ...firstByteColumns,
];
const keptMs = 120 * minuteMs;
const rowsAtOnce = 500;
const erasedAtOnce = 5_000;

/**
 * The minutes of all processes, which a chart reads together. Each process writes its own rows, as
 * they are in its memory and not what was added: to write one twice does no harm.
 */
export function createMinuteStore({
  pool,
  epoch,
}: {
  readonly pool: Pool;
  readonly epoch: number;
}): MinuteStore {
  return {
    async write(minutes, nowMs) {
      const grown = minutes.grown();
      for (let at = 0; at < grown.length; at += rowsAtOnce) {
        const piece = grown.slice(at, at + rowsAtOnce);
        const { sql, values } = unnestSql([...keys, ...figures], piece.map(rowOf(epoch)));
        await pool.query({
          text: `insert into minute_sums (${[...keys, ...figures].join(", ")}) select * from ${sql}
            on conflict (${keys.join(", ")}) do update set
            ${figures.map((name) => `${name} = excluded.${name}`).join(", ")}`,
          values,
          answerMs: deadlines.long,
        });
        minutes.written(piece);
      }
      await erase(pool, nowMs - keptMs);
    },
  };
}

/** Of all processes: one that is gone erases nothing. Rows that another erases now are its own. */
async function erase(pool: Pool, beforeMs: number): Promise<void> {
  await pool.query({
    text: `delete from minute_sums where ctid = any(array(
      select ctid from minute_sums where start_ms < $1 limit ${erasedAtOnce}
      for update skip locked))`,
    values: [beforeMs],
    answerMs: deadlines.long,
  });
}

const rowOf =
  (epoch: number) =>
  ({ startMs, row }: GrownMinute) => [
    startMs,
    row.accountId,
    row.keyId,
    row.model,
    epoch,
    row.receipts,
    row.failures,
    row.inputTokens,
    row.outputTokens,
    row.charged,
    ...endValues(row),
    ...row.durations,
    ...row.firstBytes,
  ];
