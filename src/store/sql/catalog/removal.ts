import { sql, type Transaction } from "kysely";
import { idFloor } from "../../../base/ids.ts";
import { byDatabase, rowLock } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";
import { contains } from "../text-search.ts";

/**
 * A removed model keeps its row: a call that was in flight may still write a receipt that refers to
 * its price. A new model with the same id starts without the old prices.
 */
export async function removeModel(
  transaction: Transaction<Tables>,
  id: string,
  atMs: number,
): Promise<void> {
  // What was scheduled never happens, and no receipt can refer to it.
  await transaction
    .deleteFrom("prices")
    .where("model_id", "=", id)
    .where("effective_at_ms", ">", atMs)
    .execute();
  const newest = await newestVersion(transaction, id);
  await transaction
    .updateTable("models")
    .set({ removed_at_ms: atMs, prices_after: newest, aliases: null, origin: null })
    .where("id", "=", id)
    .execute();
}

/** The new model is saved already. Returns the keys that are changed with it, to be announced. */
export async function moveModel(
  transaction: Transaction<Tables>,
  { from, to, atMs }: { readonly from: string; readonly to: string; readonly atMs: number },
): Promise<readonly string[]> {
  const newest = await newestVersion(transaction, to);
  // Until now, the prices of a removed model with the new id were active.
  const earliestMs = newest === 0 ? 0 : atMs;
  const { prices_after: after } = await transaction
    .selectFrom("models")
    .select("prices_after")
    .where("id", "=", from)
    .executeTakeFirstOrThrow();
  await sql`insert into prices (model_id, version, effective_at_ms, created_at_ms, price)
    select ${to}, ${newest} + version - ${after}, 
      case when effective_at_ms < ${earliestMs} then ${earliestMs} else effective_at_ms end,
      created_at_ms, price
    from prices where model_id = ${from} and version > ${after}`.execute(transaction);
  const keys = await moveInKeys(transaction, from, to);
  await removeModel(transaction, from, atMs);
  return keys;
}

/** A key that could use the model can use it under its new id. */
async function moveInKeys(
  transaction: Transaction<Tables>,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const rows = await transaction
    .selectFrom("keys")
    .select(["id", "models"])
    .where(contains(sql`models`, JSON.stringify(from)))
    .orderBy("id")
    .modifyEnd(rowLock(transaction))
    .execute();
  const changed: string[] = [];
  for (const { id, models } of rows) {
    const ids: readonly string[] = JSON.parse(models ?? "[]");
    if (!ids.includes(from)) continue;
    const moved = [...new Set(ids.map((one) => (one === from ? to : one)))];
    await transaction
      .updateTable("keys")
      .set({ models: JSON.stringify(moved) })
      .where("id", "=", id)
      .execute();
    changed.push(id);
  }
  return changed;
}

export async function newestVersion(transaction: Transaction<Tables>, id: string): Promise<number> {
  const newest = await transaction
    .selectFrom("prices")
    .select((select) => select.fn.max("version").as("version"))
    .where("model_id", "=", id)
    .executeTakeFirst();
  return newest?.version ?? 0;
}

/** Totals by day hold all hours that are folded; the later ones are in the sums by hour. */
export async function hasCalls(db: Db, id: string, isInSums: boolean): Promise<boolean> {
  const { rows } = await sql`select 1 from rollup_totals
      where grain = 'day' and kind = 'model' and name = ${id}
    union all select 1 from rollups where model = ${id} and hour_ms >=
      coalesce((select cast(value as bigint) from meta where key = 'rollups_folded_to_ms'), 0)
    limit 1`.execute(db);
  if (rows.length > 0 || isInSums) return rows.length > 0;
  const open = await sql<{ ms: number | null }>`select ${byDatabase(db, {
    sqlite: sql`(select cast(value as integer) from meta where key = 'rollups_open_from_ms')`,
    postgres: sql`(select min(open_from_ms) from epochs)`,
  })} as ms`.execute(db);
  const openMs = open.rows[0]?.ms ?? undefined;
  if (openMs === undefined) return false;
  const found = await sql`select 1 from receipts
    where id >= ${idFloor("req", openMs)} and model = ${id} limit 1`.execute(db);
  return found.rows.length > 0;
}
