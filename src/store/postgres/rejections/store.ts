import { type RawBuilder, sql, type Transaction } from "kysely";
import { idFloor } from "../../../base/ids.ts";
import {
  hoursKeptMs,
  minutesKeptMs,
  type RecentQuery,
  type RecentRejections,
  type RejectionBatch,
  type RejectionBounds,
  type RejectionStore,
  rowsKeptMs,
  usualBounds,
} from "../../../rejections/rejection.ts";
import { accountsAtOnce, erasedAtOnce } from "../../sql/rejections/steps.ts";
import type { Db, Tables } from "../../sql/schema.ts";
import { toCounts, toKeys, toRows } from "./batch.ts";

/** In one statement, which has room for 65,535 values. */
const addedAtOnce = 1_000;

export function createRejectionStore(
  db: Db,
  bounds: RejectionBounds = usualBounds,
): RejectionStore {
  const eraser = new RejectionEraser(db, bounds);
  return {
    async add(batch) {
      await db.transaction().execute((transaction) => add(transaction, batch));
      eraser.noteGrowth(batch.counts.map(({ accountId }) => accountId));
    },
    erase: (nowMs) => eraser.erase(nowMs),
    recent: (query) => readRecent(db, query),
    async lastRejections() {
      const rows = await db.selectFrom("key_rejections").selectAll().execute();
      return new Map(rows.map((row) => [row.key_id, row.last_ms]));
    },
  };
}

/** Several processes count in the same rows: table by table, in the order of their keys. */
async function add(transaction: Transaction<Tables>, batch: RejectionBatch): Promise<void> {
  const added = toRows(batch.rows);
  for (const rows of chunksOf(added))
    await transaction
      .insertInto("rejections")
      .values(rows)
      .onConflict((conflict) =>
        // A row that is there stands for several calls, and what it says is true of all of them.
        conflict.column("id").doUpdateSet((row) => ({
          count: row("rejections.count", "+", row.ref("excluded.count")),
          model: row.ref("excluded.model"),
          endpoint: row.ref("excluded.endpoint"),
          dialect: row.ref("excluded.dialect"),
          reason: row.ref("excluded.reason"),
        })),
      )
      .execute();
  for (const grain of ["minute", "hour"] as const) {
    const table = tableOf[grain];
    for (const rows of chunksOf(toCounts(batch.counts, grain)))
      await transaction
        .insertInto(table)
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(["start_ms", ...sumKey]).doUpdateSet({
            count: sql<number>`${sql.table(table)}.count + excluded.count`,
          }),
        )
        .execute();
  }
  for (const rows of chunksOf(toKeys(batch.keys))) {
    const values = sql.join(rows.map(({ keyId, lastMs }) => sql`(${keyId}, ${lastMs}::bigint)`));
    await sql`with told (id, ms) as (values ${values})
      insert into key_rejections (key_id, last_ms)
      select told.id, told.ms from told join keys on keys.id = told.id order by keys.id
      on conflict (key_id) do update set last_ms = excluded.last_ms
        where excluded.last_ms > key_rejections.last_ms`.execute(transaction);
  }
  // With their counts: a row may stand for more calls than these.
  const told = added.map(({ id, count }) => `${id}:${count}`);
  await sql`select svc_tell_live('rejections', ${told}::text[])`.execute(transaction);
}

const tableOf = { minute: "rejection_minutes", hour: "rejection_hours" } as const;
const sumKey = ["account_id", "key_id", "model", "code", "status"] as const;

function* chunksOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += addedAtOnce) yield rows.slice(at, at + addedAtOnce);
}

/** The whole key, so that every row has a place of its own in the order. */
const tables = {
  rejections: ["id"],
  rejection_minutes: ["start_ms", ...sumKey],
  rejection_hours: ["start_ms", ...sumKey],
} as const;
type Table = keyof typeof tables;

/**
 * Several processes may erase at once. Each step is one statement that waits for no row, and that
 * only takes rows which are too old or beyond the bound at its own moment: two that run together
 * take no more than one would.
 */
class RejectionEraser {
  readonly #db: Db;
  readonly #bounds: RejectionBounds;
  /** Accounts that may have more than their share. */
  readonly #grown = new Set<string>();
  /** An earlier process may have left too much. */
  #hasGrown = true;

  constructor(db: Db, bounds: RejectionBounds) {
    this.#db = db;
    this.#bounds = bounds;
  }

  noteGrowth(accountIds: readonly string[]): void {
    this.#hasGrown = true;
    for (const accountId of accountIds) this.#grown.add(accountId);
  }

  async erase(nowMs: number): Promise<boolean> {
    return (
      (await this.#eraseOld(nowMs)) || (await this.#eraseOfAccounts()) || (await this.#eraseOfAll())
    );
  }

  async #eraseOld(nowMs: number): Promise<boolean> {
    const erased = [
      await this.#erase("rejections", sql`id < ${idFloor("req", nowMs - rowsKeptMs)}`),
      await this.#erase("rejection_minutes", sql`start_ms < ${nowMs - minutesKeptMs}`),
      await this.#erase("rejection_hours", sql`start_ms < ${nowMs - hoursKeptMs}`),
    ];
    return erased.includes(true);
  }

  async #eraseOfAccounts(): Promise<boolean> {
    const { rowsOfAccount, countsOfAccount } = this.#bounds;
    for (const accountId of [...this.#grown].slice(0, accountsAtOnce)) {
      // Before it is looked at: what is added meanwhile is for the next step.
      this.#grown.delete(accountId);
      const isOwn = sql`account_id = ${accountId}`;
      if (await this.#eraseBeyond({ rows: rowsOfAccount, counts: countsOfAccount }, isOwn)) {
        this.#grown.add(accountId);
        return true;
      }
    }
    return this.#grown.size > 0;
  }

  async #eraseOfAll(): Promise<boolean> {
    if (!this.#hasGrown) return false;
    this.#hasGrown = false;
    if (await this.#eraseBeyond(this.#bounds, sql`true`)) this.#hasGrown = true;
    return this.#hasGrown;
  }

  async #eraseBeyond(
    most: Pick<RejectionBounds, "rows" | "counts">,
    of: RawBuilder<unknown>,
  ): Promise<boolean> {
    let isMore = false;
    for (const table of ["rejections", "rejection_minutes", "rejection_hours"] as const) {
      const kept = table === "rejections" ? most.rows : most.counts;
      const newestFirst = sql.join(tables[table].map((name) => sql`${sql.ref(name)} desc`));
      const firstBeyond = sql`select ${keyOf(table)} from ${sql.table(table)} where ${of}
        order by ${newestFirst} limit 1 offset ${kept}`;
      const condition = sql`${of} and (${keyOf(table)}) <= (${firstBeyond})`;
      if (await this.#erase(table, condition)) isMore = true;
    }
    return isMore;
  }

  /** The oldest, in a step; false when there are none. */
  async #erase(table: Table, condition: RawBuilder<unknown>): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`with oldest as (
        select ctid from ${sql.table(table)} where ${condition}
        order by ${keyOf(table)} limit ${erasedAtOnce} for update skip locked)
      delete from ${sql.table(table)} as kept using oldest where kept.ctid = oldest.ctid`.execute(
      this.#db,
    );
    return numAffectedRows > 0n;
  }
}

const keyOf = (table: Table) => sql.join(tables[table].map((name) => sql.ref(name)));

function readRecent(
  db: Db,
  { accountId, fromMs }: RecentQuery,
): Promise<readonly RecentRejections[]> {
  let query = db.selectFrom("rejection_minutes").where("start_ms", ">=", fromMs);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  return query
    .select((row) => [
      "key_id as keyId",
      "status",
      "code",
      row.cast<number>(row.fn.sum("count"), "bigint").as("count"),
    ])
    .groupBy(["key_id", "status", "code"])
    .orderBy("count", "desc")
    .orderBy("status")
    .orderBy("code")
    .execute();
}
