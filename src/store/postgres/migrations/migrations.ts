import { sql } from "kysely";
import { type Migrations, migrateSchema, pendingMigrations } from "../../sql/migrate.ts";
import type { Db } from "../../sql/schema.ts";
import { foundation } from "./schema.ts";

/** In the order of their names. One that has shipped is never changed. */
const migrations: Migrations = {
  "0001-foundation": { up: foundation },
};

const schemaOf = (known: Migrations) => ({
  known,
  setting: "SVC_DATABASE_URL",
  hasAny: async (db: Db) => {
    const found = await sql`select 1 where to_regclass('kysely_migration') is not null`.execute(db);
    return found.rows.length > 0;
  },
});

/**
 * Brings the schema up to date; the names of what this call has applied. Processes of the version
 * before go on working with it (README.md).
 */
export function migrate(db: Db, known = migrations): Promise<readonly string[]> {
  return db.connection().execute(async (connection) => {
    // A migration takes as long as it takes, and so does waiting for the process that migrates.
    for (const name of timeouts) await sql.raw(`set ${name} = 0`).execute(connection);
    try {
      return await migrateSchema(connection, schemaOf(known));
    } finally {
      for (const name of timeouts) await sql.raw(`reset ${name}`).execute(connection);
    }
  });
}

const timeouts = ["statement_timeout", "idle_in_transaction_session_timeout"];

/** What `migrate` would apply. */
export const pendingOf = (db: Db, known = migrations) => pendingMigrations(db, schemaOf(known));
