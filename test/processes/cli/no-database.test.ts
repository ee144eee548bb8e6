/** Commands on a PostgreSQL database in which nothing was ever started. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { Client } from "pg";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";
import { useHome } from "../../setup/use-home.ts";

const home = useHome({ isBare: true });
let url: string;
beforeEach(async () => {
  url = await createDatabase();
});
afterEach(async () => {
  await dropDatabase(url);
});

const tables = async () => {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select 1 from pg_tables where schemaname = 'public'");
  await client.end();
  return rows.length;
};

test("commands that need a database, and dry runs, create no tables and no secret", async () => {
  const environment = { SVC_DATABASE_URL: url };
  const { host, pathname } = new URL(url);
  for (const line of ["account list", "nodes", "receipt list", "ledger verify", "secret rotate"]) {
    const { code, stderr } = await home.svc(line, { environment });
    expect({ line, code, stderr }).toEqual({
      line,
      code: 3,
      stderr: `error: The database postgres://${host}${pathname} is empty. Check SVC_DATABASE_URL, or create a new database with svc serve.\n`,
    });
  }
  const dryRun = ["apply", home.configPath, "--dry-run"];
  expect(await home.svc(dryRun, { environment })).toMatchObject({ code: 0 });
  expect(await tables()).toBe(0);
  expect(readdirSync(dirname(home.dataDir))).toEqual(["svc.yaml"]);
});

test("commands that can come first create the tables", async () => {
  const environment = { SVC_DATABASE_URL: url };
  const created = await home.svc("account create acme", { environment });
  expect(created).toMatchObject({ code: 0 });
  expect(await tables()).toBeGreaterThan(0);
  expect(await home.json<unknown[]>("account list", { environment })).toHaveLength(1);
});
