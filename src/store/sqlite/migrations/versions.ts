import { type Kysely, sql } from "kysely";

const receiptColumns = [
  "key_limits_version",
  "account_limits_version",
  "cost_version",
  "cost_route",
  "hold_input",
  "hold_output",
  "hold_audio",
  "hold_image",
  "hold_video",
];

/** Limits and route costs get versions, and receipts refer to them and to the parts of their hold. */
export async function versions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("limit_versions")
    .addColumn("owner_id", "text", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("effective_at_ms", "bigint", (column) => column.notNull())
    .addColumn("limits", "text")
    .addPrimaryKeyConstraint("limit_versions_key", ["owner_id", "version"])
    .execute();
  for (const table of ["accounts", "keys"]) {
    await addNumber(db, table, "limits_version");
    await sql`update ${sql.table(table)} set limits_version = 1 where limits is not null`.execute(
      db,
    );
    await sql`insert into limit_versions (owner_id, version, effective_at_ms, limits)
      select id, 1, 0, limits from ${sql.table(table)} where limits is not null`.execute(db);
  }
  await db.schema
    .createTable("cost_versions")
    .addColumn("model_id", "text", (column) => column.notNull().references("models.id"))
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("effective_at_ms", "bigint", (column) => column.notNull())
    .addColumn("routes", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("cost_versions_key", ["model_id", "version"])
    .execute();
  await addNumber(db, "models", "cost_version");
  // In the routes of a model a cost is JSON within a text; here it is JSON like the rest.
  await sql`insert into cost_versions (model_id, version, effective_at_ms, routes)
    select id, 1, 0, (
      select json_group_array(json(
        case when value ->> 'cost' is null
          then json_object('provider', value ->> 'provider', 'model', value ->> 'model')
          else json_object('provider', value ->> 'provider', 'model', value ->> 'model',
            'cost', json(value ->> 'cost'))
        end)) from json_each(models.routes))
    from models`.execute(db);
  await sql`update models set cost_version = 1`.execute(db);
  for (const name of receiptColumns)
    await db.schema.alterTable("receipts").addColumn(name, "bigint").execute();
}

function addNumber(db: Kysely<unknown>, table: string, name: string): Promise<void> {
  return db.schema
    .alterTable(table)
    .addColumn(name, "integer", (column) => column.notNull().defaultTo(0))
    .execute();
}
