import { type Kysely, sql } from "kysely";

/** Who may use the platform, and what was changed by whom. */
export async function people(db: Kysely<unknown>): Promise<void> {
  const createTable = (name: string, texts: readonly string[], moments: readonly string[] = []) => {
    let table = db.schema
      .createTable(name)
      .addColumn("id", "text", (column) => column.primaryKey().notNull());
    for (const text of texts)
      table = table.addColumn(text.replace("?", ""), "text", (column) =>
        text.endsWith("?") ? column : column.notNull(),
      );
    for (const moment of moments)
      table = table.addColumn(moment.replace("?", ""), "bigint", (column) =>
        moment.endsWith("?") ? column : column.notNull(),
      );
    return table;
  };
  await createTable(
    "users",
    ["email", "name", "password_hash"],
    ["is_operator", "created_at_ms"],
  ).execute();
  await createTable(
    "sessions",
    ["user_id", "hash", "user_agent", "address"],
    ["created_at_ms", "last_seen_ms", "expires_at_ms"],
  ).execute();
  await createTable(
    "invites",
    ["hash", "kind", "email?", "user_id?", "account_id?", "role?", "created_by", "created_by_id"],
    ["created_at_ms", "expires_at_ms"],
  ).execute();
  await createTable(
    "tokens",
    ["name", "hash", "hint", "account_id?", "role", "scopes", "created_by", "created_by_id"],
    ["created_at_ms", "expires_at_ms?", "revoked_at_ms?"],
  ).execute();
  await createTable(
    "audit",
    [
      "actor_kind",
      "actor_id",
      "actor_name",
      "account_id?",
      "action",
      "subject",
      "detail",
      "address",
    ],
    ["at_ms"],
  ).execute();
  await db.schema
    .createTable("memberships")
    .addColumn("user_id", "text", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("memberships_key", ["user_id", "account_id"])
    .modifyEnd(sql`without rowid`)
    .execute();
  const unique = { users: "email", sessions: "hash", invites: "hash", tokens: "hash" };
  for (const [table, column] of Object.entries(unique))
    await db.schema.createIndex(`${table}_${column}`).unique().on(table).column(column).execute();
  await db.schema
    .createIndex("memberships_account")
    .on("memberships")
    .column("account_id")
    .execute();
  await db.schema.createIndex("sessions_user").on("sessions").column("user_id").execute();
  await db.schema.createIndex("audit_account").on("audit").columns(["account_id", "id"]).execute();
}
