import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createDatabase, dropDatabase } from "./postgres.ts";

export interface UsedPostgres extends Postgres {
  readonly url: string;
}

/** A database of its own for each test of a file, with the present schema and nothing in it. */
export function usePostgres(): () => UsedPostgres {
  let template: string;
  let used: UsedPostgres | undefined;
  beforeAll(async () => {
    template = await createDatabase();
    const empty = await openPostgres({ url: template });
    await migrate(empty.db);
    await empty.close();
  });
  afterAll(() => dropDatabase(template));
  beforeEach(async () => {
    const url = await createDatabase(new URL(template).pathname.slice(1));
    used = { ...(await openPostgres({ url })), url };
  });
  afterEach(async () => {
    await used?.close();
    if (used !== undefined) await dropDatabase(used.url);
    used = undefined;
  });
  return () => {
    if (used === undefined) throw new Error("there is a database during a test alone");
    return used;
  };
}
