import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { Problem } from "../../../base/problem.ts";
import type { Db } from "../../sql/schema.ts";
import { foundation } from "./schema.ts";

/** In the order of their names. One that has shipped is never changed. */
const migrations: Readonly<Record<string, Migration>> = {
  "0001-foundation": { up: foundation },
};

/** Brings the schema up to date, whole or not at all; refuses one that a newer version wrote. */
export async function migrate(db: Db, known = migrations): Promise<void> {
  const applied = await appliedNames(db);
  const newer = applied.filter((name) => known[name] === undefined);
  if (newer.length > 0)
    throw new Problem({
      code: "failed",
      message: `The database was written by a newer version (it has the migrations ${newer.join(", ")}). Start that version, or use another SVC_DATABASE_URL.`,
    });
  if (applied.length === Object.keys(known).length) return;
  // The migrator holds a lock of the database: of several processes one migrates, the others wait.
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...known }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw new Problem({
      code: "failed",
      message: `The database migration failed and changed nothing: ${String(error)}`,
      cause: error,
    });
}

async function appliedNames(db: Db): Promise<readonly string[]> {
  const table = sql`select 1 where to_regclass('kysely_migration') is not null`;
  if ((await table.execute(db)).rows.length === 0) return [];
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .execute();
  return rows.map((row) => row.name);
}
