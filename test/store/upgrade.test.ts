import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problems } from "../../src/ledger/verify/problems.ts";
import { checkFolded } from "../../src/ledger/verify/sums.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";

const root = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
afterAll(() => rmSync(root, { recursive: true }));

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
  const reader = openLedgerReader(path);
  const stored = await reader.rollups();
  await reader.close();
  expect(stored.list.map(({ chargedKnown }) => chargedKnown)).toEqual([57_080n]);
  expect(stored.days.map(({ chargedKnown }) => chargedKnown)).toEqual([57_080n]);
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
});
