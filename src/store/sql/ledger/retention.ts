import { sql } from "kysely";
import { idFloor, idTimeMs } from "../../../base/ids.ts";
import {
  type Days,
  keptFrom,
  type ReceiptMark,
  type RetentionStore,
} from "../../../ledger/retention.ts";
import { dayMs, toDay } from "../../../ledger/rollups.ts";
import { readMeta } from "../meta.ts";
import { toFoldMark } from "../reports/fold-mark.ts";
import type { Db } from "../schema.ts";

/** In `receipt_marks`: of all accounts. */
const all = "";

/** What the databases do differently. */
export interface RetentionDatabase {
  readonly db: Db;
  readonly alone: RetentionStore["alone"];
  /** Receipts that one step looks at: nobody waits for long. */
  readonly receiptsAtOnce: number;
  /** What all accounts keep begins with one of these; a multiple of a day. */
  readonly stepMs: number;
  /** Where the first step begins. */
  readonly stepsFromMs: number;
  /** Within a transaction: nobody opens an earlier hour until it ends. */
  lock(transaction: Db): Promise<void>;
  /** From which hour on sums may lack receipts; undefined when none does. */
  openFromMs(transaction: Db): Promise<number | undefined>;
  /** Removes at once what it can of all receipts from before the moment. */
  drop(beforeMs: number): Promise<void>;
}

/** Some accounts' receipts, or all, from one moment to another. */
interface Plan extends Days {
  readonly isOfAll: boolean;
  /** Receipts before it are done. */
  fromId: string;
}

export class SqlRetention implements RetentionStore {
  readonly alone: RetentionStore["alone"];
  readonly #database: RetentionDatabase;
  readonly #db: Db;
  #plan: Plan | undefined;

  constructor(database: RetentionDatabase) {
    this.#database = database;
    this.#db = database.db;
    this.alone = database.alone;
  }

  async advance({ nowMs, days }: Parameters<RetentionStore["advance"]>[0]): Promise<void> {
    const { db, stepMs, stepsFromMs } = this.#database;
    await db.transaction().execute(async (transaction) => {
      await this.#database.lock(transaction);
      const openMs = await this.#database.openFromMs(transaction);
      const unfoldedMs = await firstUnfolded(transaction);
      const limitMs = toDay(Math.min(nowMs, openMs ?? nowMs, unfoldedMs ?? nowMs));
      if (days !== undefined) {
        const ms = Math.min(keptFrom(nowMs, days), limitMs) - stepsFromMs;
        await move(
          transaction,
          sql`select ${sql.lit(all)}, ${sql.lit(ms - (ms % stepMs) + stepsFromMs)}`,
        );
      }
      const ofAccount = sql`${sql.lit(toDay(nowMs))} - cast(receipts_days as bigint) * ${sql.lit(dayMs)}`;
      await move(
        transaction,
        sql`select id, case when ${ofAccount} < ${sql.lit(limitMs)} then ${ofAccount}
          else ${sql.lit(limitMs)} end from accounts where receipts_days is not null`,
      );
    });
  }

  async nextExport(): Promise<Days | undefined> {
    const mark = await this.#db
      .selectFrom("receipt_marks")
      .selectAll()
      .where("account_id", "=", all)
      .executeTakeFirst();
    // What is erased already cannot be written any more.
    const fromMs = Math.max(mark?.exported_to_ms ?? 0, mark?.erased_to_ms ?? 0);
    const id = await this.#firstId(fromMs, mark?.kept_from_ms ?? 0);
    if (id === undefined) return undefined;
    const dayFromMs = toDay(idTimeMs(id));
    return { fromMs: dayFromMs, toMs: dayFromMs + dayMs };
  }

  async exported(toMs: number): Promise<void> {
    await this.#db
      .updateTable("receipt_marks")
      .set({ exported_to_ms: toMs })
      .where("account_id", "=", all)
      .execute();
  }

  async erase({ withAll }: { readonly withAll: boolean }): Promise<boolean> {
    if (!withAll && this.#plan?.isOfAll === true) this.#plan = undefined;
    this.#plan ??= await this.#nextPlan(withAll);
    const plan = this.#plan;
    if (plan === undefined) return false;
    const { fromId } = plan;
    const next = await this.#db
      .selectFrom("receipts")
      .select("id")
      .where("id", ">=", fromId)
      .where("id", "<", idFloor("req", plan.toMs))
      .orderBy("id")
      .limit(1)
      .offset(this.#database.receiptsAtOnce)
      .executeTakeFirst();
    const toId = next?.id ?? idFloor("req", plan.toMs);
    await this.#db.transaction().execute(async (transaction) => {
      let gone = transaction
        .deleteFrom("receipts")
        .where("id", ">=", fromId)
        .where("id", "<", toId);
      if (!plan.isOfAll)
        gone = gone.where("account_id", "in", (select) =>
          select
            .selectFrom("receipt_marks")
            .select("account_id")
            .where("erased_to_ms", "=", plan.fromMs)
            .where("kept_from_ms", ">=", plan.toMs),
        );
      await gone.execute();
      if (next === undefined) await done(transaction, plan);
    });
    plan.fromId = toId;
    if (next === undefined) this.#plan = undefined;
    return true;
  }

  /** All first: what goes for all needs no looking at by account. Then accounts that are as far. */
  async #nextPlan(withAll: boolean): Promise<Plan | undefined> {
    const marks = await this.#db
      .selectFrom("receipt_marks")
      .selectAll()
      .whereRef("erased_to_ms", "<", "kept_from_ms")
      .orderBy("erased_to_ms")
      .orderBy("kept_from_ms")
      .execute();
    const ofAll = withAll ? marks.find(({ account_id }) => account_id === all) : undefined;
    const first = ofAll ?? marks.find(({ account_id }) => account_id !== all);
    if (first === undefined) return undefined;
    if (ofAll !== undefined) await this.#database.drop(ofAll.kept_from_ms);
    const { erased_to_ms: fromMs, kept_from_ms: toMs } = first;
    return { isOfAll: ofAll !== undefined, fromMs, toMs, fromId: idFloor("req", fromMs) };
  }

  async #firstId(fromMs: number, toMs: number): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom("receipts")
      .select("id")
      .where("id", ">=", idFloor("req", fromMs))
      .where("id", "<", idFloor("req", toMs))
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    return row?.id;
  }
}

/** Rows of account and moment. A mark never moves back: what is gone is gone. */
async function move(transaction: Db, rows: ReturnType<typeof sql>): Promise<void> {
  await sql`insert into receipt_marks (account_id, kept_from_ms, exported_to_ms, erased_to_ms)
    select account_id, kept_from_ms, 0, 0 from
      (select '' as account_id, 0 as kept_from_ms where 1 = 0 union all ${rows}) as moved
    where kept_from_ms > 0
    on conflict (account_id) do update set kept_from_ms = excluded.kept_from_ms
    where excluded.kept_from_ms > receipt_marks.kept_from_ms`.execute(transaction);
}

async function done(transaction: Db, { isOfAll, fromMs, toMs }: Plan): Promise<void> {
  if (isOfAll)
    await sql`update receipt_marks set erased_to_ms =
        case when kept_from_ms < ${sql.lit(toMs)} then kept_from_ms else ${sql.lit(toMs)} end
      where erased_to_ms < ${sql.lit(toMs)}`.execute(transaction);
  else
    await sql`update receipt_marks set erased_to_ms = ${sql.lit(toMs)}
      where erased_to_ms = ${sql.lit(fromMs)} and kept_from_ms >= ${sql.lit(toMs)}
        and account_id <> ${all}`.execute(transaction);
}

/** The first hour with sums that are in no day yet. */
async function firstUnfolded(transaction: Db): Promise<number | undefined> {
  const { hourMs, accountId, keyId } = toFoldMark(
    await readMeta(transaction, "rollups_folded_to_ms"),
  );
  const { rows } = await sql<{ hour: number | null }>`select min(hour_ms) as hour from rollups
    where hour_ms >= ${hourMs}
      and (hour_ms, account_id, key_id) > (${hourMs}, ${accountId}, ${keyId})`.execute(transaction);
  return rows[0]?.hour ?? undefined;
}

/** The newest of all marks: no receipt from before it is written any more. */
export async function newestMark(db: Db): Promise<number> {
  const { rows } = await sql<{
    ms: number | null;
  }>`select max(kept_from_ms) as ms from receipt_marks`.execute(db);
  return rows[0]?.ms ?? 0;
}

export async function readReceiptMarks(db: Db): Promise<readonly ReceiptMark[]> {
  const rows = await db
    .selectFrom("receipt_marks")
    .select(["account_id", "kept_from_ms"])
    .execute();
  return rows.map(({ account_id, kept_from_ms }) => ({
    accountId: account_id === all ? undefined : account_id,
    keptFromMs: kept_from_ms,
  }));
}
