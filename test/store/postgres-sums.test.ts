import { afterAll, afterEach, beforeAll, beforeEach, describe } from "bun:test";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { foldTests } from "./fold-contract.ts";
import { openSums, type PostgresSums } from "./postgres-sums.ts";
import { reportTests } from "./reports-contract.ts";
import { recountTests, rollupTests } from "./sums-contract.ts";

describe("sums and reports on PostgreSQL", () => {
  let template: string;
  let url: string;
  let postgres: Postgres;
  let database: PostgresSums;
  beforeAll(async () => {
    template = await createDatabase();
    const empty = await openPostgres({ url: template });
    await migrate(empty.db);
    await empty.close();
  });
  afterAll(() => dropDatabase(template));
  beforeEach(async () => {
    url = await createDatabase(new URL(template).pathname.slice(1));
    postgres = await openPostgres({ url });
    database = await openSums(postgres);
  });
  afterEach(async () => {
    await postgres.close();
    await dropDatabase(url);
  });
  rollupTests(() => database);
  recountTests(() => database);
  foldTests(() => database);
  reportTests(() => database);
});
