import { afterAll, afterEach, beforeEach } from "bun:test";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createMigratedDatabase, openWarm } from "./empty-postgres.ts";
import { dropDatabase } from "./postgres.ts";

export interface UsedPostgres extends Postgres {
  readonly url: string;
}

/** A database for each test of a file, with the present schema and nothing in it. */
export function usePostgres(): () => UsedPostgres {
  let used: UsedPostgres | undefined;
  beforeEach(async () => {
    const url = await createMigratedDatabase();
    used = { ...(await openWarm(url)), url };
  });
  afterEach(async () => {
    if (used !== undefined) await dropDatabase(used.url);
    used = undefined;
  });
  return () => {
    if (used === undefined) throw new Error("there is a database during a test alone");
    return used;
  };
}

/** The same, but one for all tests of a file. */
export async function openFilePostgres(): Promise<UsedPostgres> {
  const url = await createMigratedDatabase();
  const postgres = await openPostgres({ url });
  afterAll(async () => {
    await postgres.close();
    await dropDatabase(url);
  });
  return { ...postgres, url };
}
