import { beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import { noShortestMs } from "../../src/ledger/reports.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import type { StoredSums } from "../../src/ledger/store.ts";
import { Problems } from "../../src/ledger/verify/problems.ts";
import { checkFolded } from "../../src/ledger/verify/sums.ts";
import type { Migrations } from "../../src/store/sql/migrate.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { knownCharges } from "../../src/store/sqlite/migrations/known-charges.ts";
import { migrate } from "../../src/store/sqlite/migrations/migrations.ts";
import { money } from "../../src/store/sqlite/migrations/money.ts";
import { usage } from "../../src/store/sqlite/migrations/usage.ts";
import { versions } from "../../src/store/sqlite/migrations/versions.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { useFolder } from "../setup/folder.ts";
import { firstSchema } from "./first-schema.ts";
import { noonMs } from "./ledger-samples.ts";

const root = useFolder();
const fresh = () => mkdtempSync(join(root, "db-"));

/** With the tables of the first version, and what these steps make of them. */
async function openFirst(more: Migrations = {}) {
  const path = join(fresh(), "svc.db");
  const { db, raw } = openSqlite(path);
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  const before = { "0001-foundation": { up: foundation, about: "" }, ...more };
  await migrate(db, before);
  return { path, db, raw, before };
}

/** The sums of hours, days and totals, which agree. */
async function readSums(path: string): Promise<StoredSums> {
  const reader = openLedgerReader(path);
  const stored = await reader.rollups();
  await reader.close();
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
  return stored;
}

test("refuses a database that a newer version wrote, and leaves it as it was", async () => {
  const sqlite = openSqlite(join(fresh(), "svc.db"));
  const later = {
    "0001-a": { up: async () => {}, about: "" },
    "0002-later": { up: async () => {}, about: "" },
  };
  await migrate(sqlite.db, later);
  await expect(createStore(sqlite, "x")).rejects.toThrow(
    "newer version (it has the migrations 0001-a, 0002-later)",
  );
  expect((await sqlite.db.introspection.getTables()).map(({ name }) => name)).toEqual([]);
});

test("a migration that fails leaves nothing behind", async () => {
  const { db } = openSqlite(join(fresh(), "svc.db"));
  const failing = {
    "0001-half": {
      about: "",
      up: async (target: typeof db) => {
        await target.schema.createTable("half").addColumn("id", "text").execute();
        throw new Error("disk full");
      },
    },
  };
  await expect(migrate(db, failing)).rejects.toThrow("disk full");
  expect((await db.introspection.getTables()).map(({ name }) => name)).toEqual([]);
});

test("a database from before the ledger keeps its prices as the first version and gets purses", async () => {
  const { path, db, raw } = await openFirst();
  raw.run("insert into accounts (id, name, created_at_ms) values ('acct_1', 'default', 5)");
  raw.run(
    "insert into keys (id, account_id, name, hash, hint, created_at_ms) values ('key_1', 'acct_1', 'k', 'h', 'x', 6)",
  );
  const models = "insert into models (id, endpoint, input, owned_by, created_at_ms, price, routes)";
  const routes = `'[{"provider":"p","model":"m","weight":1}]'`;
  const big = "123456789012345678901";
  raw.run(`${models} values ('a', 'chat', 'text', 'svc', 7, '{"output":"${big}"}', ${routes})`);
  raw.run(`${models} values ('b', 'chat', 'text', 'svc', 8, null, '[]')`);
  expect(() => openLedgerReader(path)).toThrow("The ledger cannot be read");
  await db.destroy();

  const store = await createStore(openSqlite(path), "x");
  const [priced, unpriced] = (await store.catalog.load()).models;
  expect(priced?.prices).toEqual([
    { version: 1, effectiveAtMs: 0, createdAtMs: 7, price: { output: BigInt(big) } },
  ]);
  expect(priced?.routes).toEqual([{ provider: "p", model: "m", weight: 1 }]);
  expect(unpriced?.prices).toEqual([]);
  expect(await store.accounts.list()).toEqual([{ id: "acct_1", name: "default", createdAtMs: 5 }]);
  expect((await store.keys.all()).map(({ id }) => id)).toEqual(["key_1"]);
  expect(await store.ledger.leases()).toEqual([{ accountId: "acct_1", granted: 0n, spent: 0n }]);
  await store.close();
});

test("a database from before origins lets the first file adopt its entries, a new one does not", async () => {
  const adoptsOf = async (path: string) => {
    const store = await createStore(openSqlite(path), "x");
    const { adopts } = await store.catalog.manifestState();
    const { models } = await store.catalog.load();
    await store.catalog.write({ atMs: 1, endsAdoption: true }, undefined);
    const after = await store.catalog.manifestState();
    await store.close();
    return { adopts, origins: models.map(({ origin }) => origin), after: after.adopts };
  };
  const { path, db, raw } = await openFirst();
  raw.run(
    "insert into models (id, endpoint, input, owned_by, created_at_ms, price, routes) values ('a', 'chat', 'text', 'svc', 7, null, '[]')",
  );
  await db.destroy();
  expect(await adoptsOf(path)).toEqual({ adopts: true, origins: [undefined], after: false });
  expect((await adoptsOf(path)).adopts).toBe(false);
  expect((await adoptsOf(join(fresh(), "svc.db"))).adopts).toBe(false);
});

test("sums from before they were kept by day are there by day, those that were open not yet", async () => {
  const { path, db, raw, before } = await openFirst({
    "0002-money": { up: money, about: "" },
    "0003-providers": { up: async () => {}, about: "" },
  });
  const add = (hour: number, model: string) =>
    raw.run(
      `insert into rollups values (${noonMs + hour * hourMs}, 'acct_1', 'key_1', '${model}', 'p', 2, 1, 3, 4, 0, 7, 8, 9)`,
    );
  for (const hour of [0, 1, 11, 12, 13]) add(hour, "m");
  add(0, "n");
  raw.run(`insert into meta values ('rollups_open_from_ms', '${noonMs + 13 * hourMs}')`);
  await migrate(db, {
    ...before,
    "0004-usage": { up: usage, about: "" },
    "0005-known-charges": { up: knownCharges, about: "" },
  });
  await db.destroy();
  const stored = await readSums(path);
  expect(stored.foldedTo.hourMs).toBe(noonMs + 13 * hourMs);
  expect(stored.countedFromMs).toBe(noonMs + 14 * hourMs);
  expect(stored.days.map(({ receipts }) => receipts).toSorted()).toEqual([2, 2, 6]);
  // Of these no times are known: whatever comes is the shortest and the longest.
  for (const sums of [...stored.list, ...stored.days, ...stored.totals])
    expect(sums).toMatchObject({
      shortestMs: noShortestMs,
      longestMs: 0,
      shortestFirstByteMs: noShortestMs,
      longestFirstByteMs: 0,
    });
});

test("limits and route costs from before they had versions are the first one", async () => {
  const { path, db, raw, before } = await openFirst({ "0002-money": { up: money, about: "" } });
  const account = "insert into accounts (id, name, created_at_ms, limits)";
  raw.run(`${account} values ('acct_1', 'one', 1, '{"rpm":3,"budget":"5/day"}')`);
  raw.run(`${account} values ('acct_2', 'other', 1, null)`);
  const routes = JSON.stringify([
    {
      provider: "a",
      model: "x",
      weight: 1,
      cost: JSON.stringify({ input: "12345678901234567890" }),
    },
    { provider: "b", model: "y", weight: 1 },
  ]);
  const model = "insert into models (id, endpoint, input, owned_by, created_at_ms, routes)";
  raw.run(`${model} values ('a', 'chat', 'text', 'svc', 7, ?)`, [routes]);
  raw.run(`${model} values ('b', 'chat', 'text', 'svc', 7, '[]')`);
  await migrate(db, { ...before, "0007-versions": { up: versions, about: "" } });
  const versionsOf = (table: string, column: string) =>
    raw
      .query<{ version: number }, []>(`select ${column} as version from ${table} order by id`)
      .all();
  expect(versionsOf("accounts", "limits_version")).toEqual([{ version: 1 }, { version: 0 }]);
  expect(versionsOf("models", "cost_version")).toEqual([{ version: 1 }, { version: 1 }]);
  await db.destroy();
  const reader = openLedgerReader(path);
  const [limits, ...others] = await reader.limits();
  expect(limits).toMatchObject({ version: 1, effectiveAtMs: 0, limits: { rpm: 3 } });
  expect(others).toEqual([]);
  const [costs] = (await reader.costs()).toSorted((one, other) =>
    one.modelId < other.modelId ? -1 : 1,
  );
  expect(costs).toMatchObject({
    version: 1,
    effectiveAtMs: 0,
    routes: [
      { provider: "a", cost: { input: 12_345_678_901_234_567_890n } },
      { provider: "b", cost: undefined },
    ],
  });
  await reader.close();
});

test("sums from before say what was charged for receipts with a known cost", async () => {
  const { path, db, raw, before } = await openFirst({ "0002-money": { up: money, about: "" } });
  const add = (model: string, sums: { receipts: number; charged: number; known: number }) =>
    raw.run(
      `insert into rollups (hour_ms, account_id, key_id, model, provider, receipts, charged, vendor_known, failures, input_tokens, output_tokens, cost, vendor_cost)
        values (${noonMs}, 'acct_1', 'key_1', '${model}', 'p', ${sums.receipts}, ${sums.charged}, ${sums.known}, 0, 0, 0, 0, 0)`,
    );
  add("all", { receipts: 2, charged: 10, known: 2 });
  add("none", { receipts: 2, charged: 10, known: 0 });
  add("some", { receipts: 3, charged: 10, known: 2 });
  const zeros = ["input", "cached_input", "cache_write", "output", "audio_output", "image"];
  const plain = [...zeros, "video_second", "reasoning", "estimated", "hold", "cost", "duration_ms"];
  for (const [at, charged, cost] of [
    [0, 1, "7"],
    [1, 3, "null"],
    [2, 6, "0"],
  ] as const)
    raw.run(
      `insert into receipts (id, account_id, key_id, model, endpoint, provider, attempts, price_version, outcome, charged, vendor_cost, ${plain.join(", ")})
        values ('${newId("req", noonMs + at)}', 'acct_1', 'key_1', 'some', 'chat', 'p', '', 1, 'ok', ${charged}, ${cost}, ${plain.map(() => "0").join(", ")})`,
    );
  await migrate(db, {
    ...before,
    "0003-usage": { up: usage, about: "" },
    "0004-known-charges": { up: knownCharges, about: "" },
  });
  await db.destroy();
  const stored = await readSums(path);
  const known = (rows: readonly { readonly model: string; readonly chargedKnown: bigint }[]) =>
    Object.fromEntries(rows.map(({ model, chargedKnown }) => [model, chargedKnown]));
  expect(known(stored.list)).toEqual({ all: 10n, none: 0n, some: 7n });
  expect(known(stored.days)).toEqual({ all: 10n, none: 0n, some: 7n });
});

describe("an upgrade from eleven migrations", () => {
  /** A dump of what the version with eleven migrations wrote: two calls of one key, two people. */
  const dump = readFileSync(join(import.meta.dir, "../fixtures/database-0011.sql"), "utf8");

  const path = join(root, "upgraded.db");

  beforeAll(async () => {
    const { db, raw } = openSqlite(path);
    for (const line of dump.trim().split(";\n")) raw.run(line);
    await db.destroy();
    await (await createStore(openSqlite(path), "x")).close();
  });

  interface Shape {
    readonly name: string;
    readonly sql: string;
  }

  /** Every table with its columns, and every index. */
  async function shapeOf(file: string): Promise<readonly string[]> {
    const { db, raw } = openSqlite(file);
    const shapes = raw
      .query<Shape, []>("select name, sql from sqlite_master where sql is not null order by name")
      .all()
      .flatMap(({ name, sql }) => {
        if (/^create (unique )?index/i.test(sql)) return [sql];
        return raw
          .query<Record<string, unknown>, [string]>(
            "select name, type, [notnull], dflt_value, pk from pragma_table_info(?) order by cid",
          )
          .all(name)
          .map((column) => `${name} ${JSON.stringify(column)}`);
      });
    await db.destroy();
    return shapes;
  }

  test("a database of the version before becomes what a new one is, with everything in it", async () => {
    const created = join(root, "created.db");
    await (await createStore(openSqlite(created), "x")).close();
    const shape = await shapeOf(path);
    expect(shape.length).toBeGreaterThan(100);
    expect(shape).toEqual([...(await shapeOf(created))]);

    const store = await createStore(openSqlite(path), "x");
    const [key, ...others] = await store.keys.all();
    expect(others).toEqual([]);
    expect(key).toMatchObject({ hint: "sk-svc-…Tuy6", hash: "h" });
    expect([key?.pausedAtMs, key?.createdBy]).toEqual([undefined, undefined]);
    const { models, providers } = await store.catalog.load();
    expect(providers).toMatchObject([{ name: "fake", apiKey: { variable: "FAKE_KEY" } }]);
    expect([providers[0]?.isPaused, providers[0]?.keys]).toEqual([undefined, undefined]);
    expect(models.map(({ id, prices }) => [id, prices.length])).toEqual([["svc-3-flash", 1]]);
    expect(models[0]?.aliases ?? []).toEqual([]);
    expect((await store.accounts.list()).map(({ name }) => name)).toEqual(["test"]);
    const { records } = await store.audit.list({ limit: 10 });
    expect(records.map(({ action }) => action)).toEqual(["key.create", "account.create"]);
    await store.close();

    const { db, raw } = openSqlite(path);
    const count = (from: string) =>
      raw.query<{ readonly n: number }, []>(`select count(*) as n from ${from}`).get()?.n;
    expect(count("receipts where is_streamed is null and dialect is null")).toBe(2);
    expect(count("users")).toBe(2);
    for (const table of ["rejections", "rejection_hours", "preferences", "saved_views"])
      expect([table, count(table)]).toEqual([table, 0]);
    await db.destroy();
  });

  test("its sums know what was charged for calls with a known cost", async () => {
    const stored = await readSums(path);
    expect(stored.list.map(({ chargedKnown }) => chargedKnown)).toEqual([57_080n]);
    expect(stored.days.map(({ chargedKnown }) => chargedKnown)).toEqual([57_080n]);
  });
});
