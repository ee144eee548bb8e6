import { type Kysely, sql } from "kysely";

const dayMs = 86_400_000;
const counts = Array.from({ length: 13 }, (_, at) => at);
/** The shortest time of none, so that any is shorter. */
const noShortestMs = 9_007_199_254_740_991;
const endColumns = [
  { name: "shortest_ms", none: noShortestMs, merge: "min" },
  { name: "longest_ms", none: 0, merge: "max" },
  { name: "shortest_first_byte_ms", none: noShortestMs, merge: "min" },
  { name: "longest_first_byte_ms", none: 0, merge: "max" },
] as const;
const timeColumns = [
  ...counts.map((at) => `duration_${at}`),
  ...counts.map((at) => `first_byte_${at}`),
];
const sumColumns = [
  "receipts",
  "failures",
  "input_tokens",
  "output_tokens",
  "cost",
  "charged",
  "vendor_cost",
  "vendor_known",
];
const allColumns = [...sumColumns, ...endColumns.map(({ name }) => name), ...timeColumns];

/** Sums count durations, and are kept by day and in totals too; those that there are, are added. */
export async function usage(db: Kysely<unknown>): Promise<void> {
  const added = [...endColumns, ...timeColumns.map((name) => ({ name, none: 0 }))];
  for (const { name, none } of added)
    await db.schema
      .alterTable("rollups")
      .addColumn(name, "bigint", (column) => column.notNull().defaultTo(none))
      .execute();
  let days = db.schema
    .createTable("rollup_days")
    .addColumn("day_ms", "bigint", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("model", "text", (column) => column.notNull())
    .addColumn("provider", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("rollup_days_key", [
      "day_ms",
      "account_id",
      "key_id",
      "model",
      "provider",
    ]);
  let totals = db.schema
    .createTable("rollup_totals")
    .addColumn("grain", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("start_ms", "bigint", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("rollup_totals_key", ["grain", "kind", "start_ms", "name"]);
  for (const name of allColumns) {
    days = days.addColumn(name, "bigint", (column) => column.notNull());
    totals = totals.addColumn(name, "bigint", (column) => column.notNull());
  }
  await days.modifyEnd(sql`without rowid`).execute();
  await totals.modifyEnd(sql`without rowid`).execute();
  await fill(db);
}

/** Whole hours below the open ones; what is open will be closed and added as ever. */
async function fill(db: Kysely<unknown>): Promise<void> {
  const columns = sql.raw(allColumns.join(", "));
  const added = sql.raw(
    [
      ...sumColumns.map((name) => `sum(${name})`),
      ...endColumns.map(({ name, merge }) => `${merge}(${name})`),
      ...timeColumns.map((name) => `sum(${name})`),
    ].join(", "),
  );
  const endMs = sql`coalesce((select max(hour_ms) + 3600000 from rollups), 0)`;
  const openMs = sql`(select cast(value as integer) from meta
    where key = 'rollups_open_from_ms' and value <> '')`;
  await sql`insert into meta (key, value)
    values ('rollups_folded_to_ms', cast(min(${endMs}, coalesce(${openMs}, ${endMs})) as text)),
      ('rollups_counted_from_ms', cast(${endMs} as text))`.execute(db);
  const closed = sql`hour_ms < (select cast(value as integer) from meta
    where key = 'rollups_folded_to_ms')`;
  const day = sql`hour_ms / ${sql.lit(dayMs)} * ${sql.lit(dayMs)}`;
  await sql`insert into rollup_days (day_ms, account_id, key_id, model, provider, ${columns})
    select ${day}, account_id, key_id, model, provider, ${added} from rollups
    where ${closed} group by 1, 2, 3, 4, 5`.execute(db);
  for (const [kind, column] of [
    ["model", "model"],
    ["account", "account_id"],
    ["key", "key_id"],
  ] as const)
    for (const [grain, start] of [
      ["hour", sql`hour_ms`],
      ["day", day],
    ] as const)
      await sql`insert into rollup_totals (grain, kind, start_ms, name, ${columns})
        select ${grain}, ${kind}, ${start}, ${sql.ref(column)}, ${added} from rollups
        where ${closed} group by 3, 4`.execute(db);
}
