import type { Database, Statement } from "bun:sqlite";
import { type FoldMark, hourMs, isFolded, type Rollup, toDay } from "../../../ledger/rollups.ts";
import { totalGroups } from "../../../ledger/store.ts";
import { foldMarkSql, toFoldMark } from "../../sql/reports/fold-mark.ts";
import {
  addInConflict,
  dayKeys,
  mergedOf,
  sumColumns,
  sumValues,
  totalColumn,
  totalKeys,
} from "../../sql/reports/rollup-columns.ts";
import { addRowSql } from "./add-row.ts";
import { sqliteWords as words } from "./sqlite-reader.ts";

type Value = string | number | bigint;

/** Rows that are added in one transaction: it must not hold up the event loop. */
const rowsAtOnce = 30;
/** Behind every id. */
const lastId = "\u{10ffff}";

/**
 * Sums of closed hours, once more by day and, for who looks at all accounts, by model, account and
 * key: what a chart reads grows with what it shows. The mark in `meta` says which rows are in them;
 * it is written in the transaction that adds a piece, so that a crash can do no harm. All of it is
 * called within a transaction of the writer's.
 */
export class RollupFold {
  readonly #raw: Database;
  #prepared: ReturnType<typeof prepare> | undefined;

  constructor(raw: Database) {
    this.#raw = raw;
  }

  /** Prepared on first use: a command that opens the store for a moment folds nothing. */
  get #statements(): ReturnType<typeof prepare> {
    this.#prepared ??= prepare(this.#raw);
    return this.#prepared;
  }

  /** Where the oldest hour begins that is not in them; undefined when there is none before the moment. */
  next(beforeMs: number): number | undefined {
    const { hourMs: hour, accountId, keyId } = this.#mark();
    const row = this.#statements.next.get(hour, beforeMs, hour, accountId, keyId);
    return row?.hour ?? undefined;
  }

  fold(hour: number): void {
    const { end, days, totals, move } = this.#statements;
    const mark = this.#mark();
    const from = mark.hourMs === hour ? mark : { accountId: "", keyId: "" };
    const last = end.get(hour, from.accountId, from.keyId);
    const to = last ?? { account_id: lastId, key_id: "" };
    const piece = [hour, from.accountId, from.keyId, to.account_id, to.key_id];
    const day = toDay(hour);
    days.run(day, ...piece);
    for (const { byHour, byDay } of totals) {
      byHour.run(...piece);
      byDay.run(day, ...piece);
    }
    move.run(last === null ? String(hour + hourMs) : `${hour} ${last.account_id} ${last.key_id}`);
  }

  /** Of rows that are in them already, when receipts came late. */
  addLate(rollups: readonly Rollup[]): void {
    const { addDay, addTotal } = this.#statements;
    const mark = this.#mark();
    for (const rollup of rollups) {
      if (!isFolded(rollup, mark)) continue;
      const { accountId, keyId, model, provider } = rollup;
      const dayMs = toDay(rollup.hourMs);
      const sums = sumValues(rollup);
      addDay.run(dayMs, accountId, keyId, model, provider, ...sums);
      for (const by of totalGroups) {
        const name = { model, account: accountId, key: keyId }[by];
        addTotal.run("hour", by, rollup.hourMs, name, ...sums);
        addTotal.run("day", by, dayMs, name, ...sums);
      }
    }
  }

  #mark(): FoldMark {
    return toFoldMark(this.#statements.mark.get()?.value);
  }
}

function prepare(raw: Database) {
  const run = (sql: string): Statement<unknown, Value[]> => raw.query<unknown, Value[]>(sql);
  const sums = sumColumns.join(", ");
  const added = sumColumns.map(mergedOf).join(", ");
  const addDays = addInConflict({ table: "rollup_days", keys: dayKeys, words });
  const addTotals = addInConflict({ table: "rollup_totals", keys: totalKeys, words });
  const piece = `from rollups where hour_ms = ?
    and (account_id, key_id) > (?, ?) and (account_id, key_id) <= (?, ?)`;
  const intoTotals = `insert into rollup_totals (${totalKeys.join(", ")}, ${sums})`;
  return {
    mark: raw.query<{ value: string }, []>(foldMarkSql),
    move: run(
      "insert into meta (key, value) values ('rollups_folded_to_ms', ?) on conflict do update set value = excluded.value",
    ),
    next: raw.query<{ hour: number | null }, Value[]>(
      `select min(hour_ms) as hour from rollups where hour_ms >= ? and hour_ms < ?
        and (hour_ms, account_id, key_id) > (?, ?, ?)`,
    ),
    end: raw.query<{ account_id: string; key_id: string }, Value[]>(
      `select account_id, key_id from rollups
        where hour_ms = ? and (account_id, key_id) > (?, ?)
        order by account_id, key_id limit 1 offset ${rowsAtOnce - 1}`,
    ),
    days: run(`insert into rollup_days (${dayKeys.join(", ")}, ${sums})
      select ?, account_id, key_id, model, provider, ${sums} ${piece} ${addDays}`),
    totals: totalGroups.map((by) => ({
      byHour: run(`${intoTotals} select 'hour', '${by}', hour_ms, ${totalColumn[by]}, ${added}
        ${piece} group by hour_ms, ${totalColumn[by]} ${addTotals}`),
      byDay: run(`${intoTotals} select 'day', '${by}', ?, ${totalColumn[by]}, ${added}
        ${piece} group by ${totalColumn[by]} ${addTotals}`),
    })),
    addDay: run(addRowSql("rollup_days", dayKeys)),
    addTotal: run(addRowSql("rollup_totals", totalKeys)),
  };
}
