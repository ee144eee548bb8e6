import type { Database } from "bun:sqlite";
import { idFloor } from "../../../base/ids.ts";
import { type MinuteRow, minuteMs } from "../../../ledger/minutes.ts";
import {
  readableSums,
  type SumsRow,
  startOf,
  sumsOfReceipts,
  toSums,
} from "../../sql/reports/rollup-columns.ts";
import { sqliteWords } from "./sqlite-reader.ts";

export interface StoredMinute {
  readonly startMs: number;
  readonly row: MinuteRow;
}

interface Row extends SumsRow {
  readonly start_ms: number;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
}

/** No more are kept in memory either. */
const maxRows = 20_000;

/** What the receipts of a short time add up to by minute, the newest first. */
export function readMinutes(
  raw: Database,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly StoredMinute[] {
  const sql = `select start_ms, account_id, key_id, model, ${readableSums} from
    (select ${startOf(minuteMs, sqliteWords)} as start_ms, account_id, key_id, model, ${sumsOfReceipts}
      from receipts where id >= ? and id < ? group by 1, 2, 3, 4 order by 1 desc limit ${maxRows})`;
  return raw
    .query<Row, [string, string]>(sql)
    .all(idFloor("req", fromMs), idFloor("req", toMs))
    .map((row) => ({
      startMs: row.start_ms,
      row: {
        accountId: row.account_id,
        keyId: row.key_id,
        model: row.model,
        ...toSums(row),
      },
    }));
}
