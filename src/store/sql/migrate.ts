import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { Problem } from "../../base/problem.ts";
import type { Db } from "./schema.ts";
import { readVersions } from "./versions.ts";

/** Its cause is what the database said, which may be said better in words. */
export class MigrationFailure extends Problem {
  constructor(cause: unknown) {
    const message = `The database migration failed and changed nothing: ${String(cause)}`;
    super({ code: "failed", message, cause });
  }
}

/** A step of the schema, described for the person who upgrades. */
export interface SchemaStep extends Migration {
  /** What it does, as one sentence for the operator, with the locks that calls would wait for. */
  readonly about: string;
  /** Tables whose rows it reads or writes, so that it takes longer the more of them there are. */
  readonly rewrites?: readonly string[];
}

/** By name, in the order of their names. */
export type Migrations = Readonly<Record<string, SchemaStep>>;

export interface Schema {
  readonly known: Migrations;
  /** Whether any migration was ever applied. */
  readonly hasAny: (db: Db) => Promise<boolean>;
  /** The setting that names another database. */
  readonly setting: string;
  /** Whether this version works with the schema of a newer one; absent: with none. */
  readonly worksOnNewer?: (db: Db) => Promise<boolean>;
}

/** The migrations that the database lacks; refuses a newer schema that this version cannot use. */
export async function pendingMigrations(db: Db, schema: Schema): Promise<readonly string[]> {
  const { known, setting } = schema;
  const applied = await appliedNames(db, schema);
  const newer = applied.filter((name) => known[name] === undefined);
  if (newer.length > 0 && !(await schema.worksOnNewer?.(db)))
    throw new Problem({
      code: "failed",
      message: `The database was written by a newer version${await writerOf(db, newer)} (it has the ${newer.length === 1 ? "migration" : "migrations"} ${newer.join(", ")}). Start that version, restore the backup from before the upgrade, or use another ${setting}.`,
    });
  return Object.keys(known).filter((name) => !applied.includes(name));
}

async function writerOf(db: Db, newer: readonly string[]): Promise<string> {
  // A schema of tests may lack the table.
  const versions = await readVersions(db).catch(() => []);
  const writer = versions.findLast(({ schema }) => newer.includes(schema));
  return writer === undefined ? "" : `, ${writer.version}`;
}

/** A migration that is about to run, for the person who upgrades. */
export interface PendingStep {
  readonly name: string;
  readonly about: string;
  /** That it reads or writes; 0 where it does not depend on them. */
  readonly rows: number;
}

export async function describeSteps(
  db: Db,
  names: readonly string[],
  known: Migrations,
): Promise<readonly PendingStep[]> {
  const steps: PendingStep[] = [];
  for (const name of names) {
    const { about = "", rewrites = [] } = known[name] ?? {};
    let rows = 0;
    for (const table of rewrites) rows += await rowsOf(db, table);
    steps.push({ name, about, rows });
  }
  return steps;
}

/** None in a table that an earlier step is going to create. */
async function rowsOf(db: Db, table: string): Promise<number> {
  const counted = sql<{ rows: number | bigint | string }>`
    select count(*) as rows from ${sql.table(table)}`;
  const { rows } = await counted.execute(db).catch(() => ({ rows: [] }));
  return Number(rows[0]?.rows ?? 0);
}

/**
 * Brings the schema up to date, whole or not at all; the names of what this call has applied. The
 * migrator holds a lock of the database: of several processes one migrates, and the others wait.
 */
export async function migrateSchema(db: Db, schema: Schema): Promise<readonly string[]> {
  // The usual case. The migrator would read the whole schema several times.
  if ((await pendingMigrations(db, schema)).length === 0) return [];
  const getMigrations = async () => ({ ...schema.known });
  const { error, results = [] } = await new Migrator({
    db,
    provider: { getMigrations },
  }).migrateToLatest();
  if (error !== undefined) throw new MigrationFailure(error);
  return results.map(({ migrationName }) => migrationName);
}

async function appliedNames(db: Db, { hasAny }: Schema): Promise<readonly string[]> {
  if (!(await hasAny(db))) return [];
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .execute();
  return rows.map((row) => row.name);
}
