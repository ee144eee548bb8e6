import { type Kysely, sql } from "kysely";

const dayMs = 86_400_000;

/** Sums know what was charged for the receipts whose vendor cost is known: margin is of those. */
export async function knownCharges(db: Kysely<unknown>): Promise<void> {
  for (const table of ["rollups", "rollup_days", "rollup_totals"])
    await db.schema
      .alterTable(table)
      .addColumn("charged_known", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
  await sql`update rollups set charged_known = charged where vendor_known = receipts`.execute(db);
  // Rows with both kinds are few, such as the hour in which a cost was set. An id begins with its time.
  await sql`update rollups set charged_known = coalesce((
      select sum(receipts.charged) from receipts
      where receipts.id >= printf('req_%012x', rollups.hour_ms)
        and receipts.id < printf('req_%012x', rollups.hour_ms + 3600000)
        and receipts.account_id = rollups.account_id and receipts.key_id = rollups.key_id
        and receipts.model = rollups.model and receipts.provider = rollups.provider
        and receipts.vendor_cost is not null), 0)
    where vendor_known > 0 and vendor_known < receipts`.execute(db);
  await fill(db);
}

/** Sums by day and totals have the hours up to the mark, which may be within one. */
async function fill(db: Kysely<unknown>): Promise<void> {
  const marks = await sql<{ value: string }>`select value from meta
    where key = 'rollups_folded_to_ms'`.execute(db);
  const [hour = "0", account = "", key = ""] = (marks.rows[0]?.value ?? "0").split(" ");
  const folded = sql`(hour_ms, account_id, key_id) <= (${Number(hour)}, ${account}, ${key})
    and charged_known > 0`;
  const day = sql`hour_ms / ${sql.lit(dayMs)} * ${sql.lit(dayMs)}`;
  await sql`update rollup_days set charged_known = summed.known from (
      select ${day} as day, account_id, key_id, model, provider, sum(charged_known) as known
      from rollups where ${folded} group by 1, 2, 3, 4, 5) as summed
    where rollup_days.day_ms = summed.day and rollup_days.account_id = summed.account_id
      and rollup_days.key_id = summed.key_id and rollup_days.model = summed.model
      and rollup_days.provider = summed.provider`.execute(db);
  for (const [kind, column] of [
    ["model", "model"],
    ["account", "account_id"],
    ["key", "key_id"],
  ] as const)
    for (const [grain, start] of [
      ["hour", sql`hour_ms`],
      ["day", day],
    ] as const)
      await sql`update rollup_totals set charged_known = summed.known from (
          select ${start} as start, ${sql.ref(column)} as name, sum(charged_known) as known
          from rollups where ${folded} group by 1, 2) as summed
        where rollup_totals.grain = ${grain} and rollup_totals.kind = ${kind}
          and rollup_totals.start_ms = summed.start and rollup_totals.name = summed.name`.execute(
        db,
      );
}
