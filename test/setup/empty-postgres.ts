import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createDatabase } from "./postgres.ts";

let template: Promise<string> | undefined;

/** A fresh database with all tables. They are created once per process, and copied from then on. */
export async function createMigratedDatabase(): Promise<string> {
  template ??= createTemplate();
  return createDatabase(await template);
}

async function createTemplate(): Promise<string> {
  const url = await createDatabase();
  const postgres = await openPostgres({ url });
  await migrate(postgres.db);
  await postgres.close();
  return new URL(url).pathname.slice(1);
}
