import { sql } from "kysely";
import { idFloor } from "../../base/ids.ts";
import { dayMs } from "../../ledger/rollups.ts";
import type { Db } from "../sql/schema.ts";
import { lockSql } from "./locks.ts";

/** Receipts of one week; `receipts_other` has those whose week has no table. */
export interface Partition {
  /** Ends in its first day, such as `receipts_20270111`. */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export const weekMs = 7 * dayMs;
/** The first Monday of the count of milliseconds. */
export const mondayMs = 4 * dayMs;
/** The present week, and those that are created ahead. */
const weeks = 4;
/** Who waits for a table holds up all that come behind: rather the next attempt. */
const lockMs = 1_000;

/**
 * Creates the tables of this week and the next three. Several processes may do it at once: each
 * table is created by one of them. Receipts of its week that came before it move to it. Rejects when
 * the receipts are in use for too long; then it is to be tried again.
 */
export async function ensurePartitions(db: Db, nowMs: number): Promise<void> {
  const firstMs = weekOf(nowMs);
  for (let week = 0; week < weeks; week++) await ensure(db, toPartition(firstMs + week * weekMs));
}

/** The Monday of a moment. */
export const weekOf = (ms: number) => ms - ((ms - mondayMs) % weekMs);

/** Creates the table of one week, for receipts that are copied there. */
export const ensureWeekOf = (db: Db, ms: number) => ensure(db, toPartition(weekOf(ms)));

/** The oldest first. */
export async function listPartitions(db: Db): Promise<readonly Partition[]> {
  const { rows } = await sql<{ name: string }>`select relname as name from pg_inherits
    join pg_class on pg_class.oid = inhrelid
    where inhparent = to_regclass('receipts') order by relname collate "C"`.execute(db);
  return rows.flatMap(({ name }) => {
    const [, year, month, day] = /^receipts_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
    return year === undefined ? [] : [toPartition(Date.parse(`${year}-${month}-${day}T00:00Z`))];
  });
}

/** Those that end before this moment, with all their receipts; their names. */
export async function dropPartitions(db: Db, beforeMs: number): Promise<readonly string[]> {
  const old = (await listPartitions(db)).filter(({ toMs }) => toMs <= beforeMs);
  for (const { name } of old)
    await alone(db, async (transaction) => {
      await sql`drop table if exists ${sql.table(name)}`.execute(transaction);
    });
  return old.map(({ name }) => name);
}

function toPartition(fromMs: number): Partition {
  const day = new Date(fromMs).toISOString().slice(0, 10).replaceAll("-", "");
  return { name: `receipts_${day}`, fromMs, toMs: fromMs + weekMs };
}

async function ensure(db: Db, partition: Partition): Promise<void> {
  const { name } = partition;
  const isThere = async (on: Db) => (await listPartitions(on)).some((known) => known.name === name);
  if (await isThere(db)) return;
  await alone(db, async (transaction) => {
    // Another process may have been faster.
    if (!(await isThere(transaction))) await create(transaction, partition);
  });
}

/** Filled first and attached then: this locks the receipts of other weeks for nobody. */
async function create(transaction: Db, { name, fromMs, toMs }: Partition): Promise<void> {
  const [from, to] = [idFloor("req", fromMs), idFloor("req", toMs)];
  const table = sql.table(name);
  await sql`lock table receipts_other in access exclusive mode`.execute(transaction);
  await sql`create table ${table} (like receipts including all)`.execute(transaction);
  await sql`with moved as (
      delete from receipts_other where id >= ${from} and id < ${to} returning *)
    insert into ${table} select * from moved`.execute(transaction);
  await sql`alter table receipts attach partition ${table}
    for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(transaction);
}

function alone(db: Db, work: (transaction: Db) => Promise<void>): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await sql.raw(lockSql("partitions")).execute(transaction);
    await sql.raw(`set local lock_timeout = ${lockMs}`).execute(transaction);
    await work(transaction);
  });
}
