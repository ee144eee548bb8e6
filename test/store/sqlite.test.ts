import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noShortestMs } from "../../src/ledger/reports.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import { Problems } from "../../src/ledger/verify/problems.ts";
import { checkFolded } from "../../src/ledger/verify/sums.ts";
import { realDatabasePath } from "../../src/store/sqlite/database-file.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { lockDatabase, lockDataDir } from "../../src/store/sqlite/lock.ts";
import { knownCharges } from "../../src/store/sqlite/migrations/known-charges.ts";
import { migrate } from "../../src/store/sqlite/migrations/migrations.ts";
import { money } from "../../src/store/sqlite/migrations/money.ts";
import { usage } from "../../src/store/sqlite/migrations/usage.ts";
import { versions } from "../../src/store/sqlite/migrations/versions.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { copyEmptyDatabase } from "../setup/empty-database.ts";
import { auditContract, ledgerWrites } from "./audit-contract.ts";
import { auditOf } from "./audit-sample.ts";
import { storeContract } from "./contract.ts";
import type { ContractDatabase } from "./contract-database.ts";
import { costsContract } from "./costs-contract.ts";
import { firstSchema } from "./first-schema.ts";
import { ledgerContract } from "./ledger-contract.ts";
import { noonMs, receiptOf, write } from "./ledger-samples.ts";
import { namesContract } from "./names-contract.ts";
import { providersContract } from "./providers-contract.ts";

const root = mkdtempSync(join(tmpdir(), "svc-store-"));
afterAll(() => rmSync(root, { recursive: true }));
const fresh = () => mkdtempSync(join(root, "db-"));

async function create(): Promise<ContractDatabase> {
  const dir = fresh();
  const path = join(dir, "svc.db");
  copyEmptyDatabase(path);
  return {
    traits: { chargedBy: "sums", commitsInTurn: true },
    open: (fingerprint = "fingerprint") => createStore(openSqlite(path), fingerprint),
    openReader: async () => openLedgerReader(path),
    remove: async () => rmSync(dir, { recursive: true }),
  };
}

storeContract("SQLite", create);
ledgerContract("SQLite", create);
auditContract("SQLite", create, ledgerWrites);
costsContract("SQLite", create);
namesContract("SQLite", create);
providersContract("SQLite", create);

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
  const path = join(fresh(), "svc.db");
  const { db, raw } = openSqlite(path);
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  await migrate(db, { "0001-foundation": { up: foundation, about: "" } });
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
  const path = join(fresh(), "svc.db");
  const { db, raw } = openSqlite(path);
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  await migrate(db, { "0001-foundation": { up: foundation, about: "" } });
  raw.run(
    "insert into models (id, endpoint, input, owned_by, created_at_ms, price, routes) values ('a', 'chat', 'text', 'svc', 7, null, '[]')",
  );
  await db.destroy();
  expect(await adoptsOf(path)).toEqual({ adopts: true, origins: [undefined], after: false });
  expect((await adoptsOf(path)).adopts).toBe(false);
  expect((await adoptsOf(join(fresh(), "svc.db"))).adopts).toBe(false);
});

test("sums from before they were kept by day are there by day, those that were open not yet", async () => {
  const path = join(fresh(), "svc.db");
  const { db, raw } = openSqlite(path);
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  const before = {
    "0001-foundation": { up: foundation, about: "" },
    "0002-money": { up: money, about: "" },
    "0003-providers": { up: async () => {}, about: "" },
  };
  await migrate(db, before);
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
  const reader = openLedgerReader(path);
  const stored = await reader.rollups();
  await reader.close();
  const problems = new Problems();
  checkFolded(stored, problems);
  expect(problems.first).toEqual([]);
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
  const path = join(fresh(), "svc.db");
  const { db, raw } = openSqlite(path);
  const foundation = async () => {
    for (const line of firstSchema.split("\n")) raw.run(line);
  };
  const before = {
    "0001-foundation": { up: foundation, about: "" },
    "0002-money": { up: money, about: "" },
  };
  await migrate(db, before);
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

test("the attempt of a call that was served at once is in columns, and old receipts are read", async () => {
  const path = join(fresh(), "svc.db");
  const sqlite = openSqlite(path);
  const store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 5 }, auditOf());
  const plain = receiptOf({ charged: 0n });
  const [served] = plain.attempts;
  const failed = { provider: "p", model: "m", code: "upstream_error", startedMs: 0, durationMs: 1 };
  const twice = receiptOf({ charged: 0n, attempts: [failed, { ...failed, code: undefined }] });
  const old = receiptOf({ charged: 0n });
  await store.ledger.commit([plain, twice, old].map((receipt) => write(receipt)));
  sqlite.raw.run(
    "update receipts set attempts = ?, upstream_model = null, attempt_started_ms = null where id = ?",
    ["p/a model upstream_error (p returned 500; oddly), q/m", old.id],
  );
  const stored = sqlite.raw
    .query("select attempts, upstream_model, attempt_started_ms from receipts where id = ?")
    .get(plain.id);
  expect(stored).toEqual({
    attempts: "",
    upstream_model: served?.model,
    attempt_started_ms: served?.startedMs,
  });
  const reader = openLedgerReader(path);
  expect(await reader.receipt(twice.id)).toEqual(twice);
  expect((await reader.receipt(old.id))?.attempts).toEqual([
    { provider: "p", model: "a model", code: "upstream_error", detail: "p returned 500; oddly" },
    { provider: "q", model: "m" },
  ]);
  await reader.close();
  await store.close();
});

test("a reader that is closed leaves nothing open, whatever it was asked for", async () => {
  const path = join(fresh(), "svc.db");
  const store = await createStore(openSqlite(path), "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 5 }, auditOf());
  await store.ledger.commit([1, 2, 3].map(() => write(receiptOf({ charged: 0n }))));
  const brief = openLedgerReader(path);
  expect(await brief.receipt("req_none")).toBeUndefined();
  const early = openLedgerReader(path);
  for await (const { id } of early.receipts({})) if (id !== "") break;
  await Promise.all([brief.close(), early.close()]);
  await store.close();
  // The last connection takes the log away.
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test("a ledger that was never there is told as such", () => {
  expect(() => openLedgerReader(join(fresh(), "svc.db"))).toThrow(
    "Check that the gateway has been started here before.",
  );
});

test("a budget that cannot be read is no licence to spend without one", async () => {
  const sqlite = openSqlite(join(fresh(), "svc.db"));
  const store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 5 }, auditOf());
  sqlite.raw.run(`update accounts set limits = '{"budget":"5/week"}'`);
  await expect(store.accounts.list()).rejects.toThrow("5/week");
  await store.close();
});

test("one process owns a data directory, and the next is told where it runs", () => {
  const dir = fresh();
  const lock = lockDataDir(dir);
  lock.describe({ pid: 42, address: "http://127.0.0.1:8080" });
  expect(() => lockDataDir(dir)).toThrow("already running at http://127.0.0.1:8080 (process 42)");
  lock.release();
  lockDataDir(dir).release();
});

test("one process writes a database, whichever way leads to it", () => {
  const dir = realpathSync(fresh());
  const path = join(dir, "svc.db");
  const link = join(fresh(), "link.db");
  symlinkSync(path, link);
  // Before it exists, and after.
  expect(realDatabasePath(link)).toBe(path);
  const release = lockDatabase(path);
  writeFileSync(path, "");
  expect(realDatabasePath(link)).toBe(path);
  expect(() => lockDatabase(realDatabasePath(link))).toThrow(
    `The database ${path} is in use by another gateway or command.`,
  );
  release();
  lockDatabase(path)();
});

test("a chain of links that leads in a circle ends", () => {
  const dir = fresh();
  symlinkSync(join(dir, "b"), join(dir, "a"));
  symlinkSync(join(dir, "a"), join(dir, "b"));
  expect(realDatabasePath(join(dir, "a"))).toContain(dir);
});

test("a lock file that others could read becomes private, and stays locked", () => {
  const dir = fresh();
  writeFileSync(join(dir, "lock.db"), "", { mode: 0o644 });
  const lock = lockDataDir(dir);
  expect(statSync(join(dir, "lock.db")).mode & 0o777).toBe(0o600);
  expect(() => lockDataDir(dir)).toThrow("in use");
  expect(() => lockDataDir(dir)).toThrow("in use");
  lock.release();
});

test("the description of a later owner stays when an earlier one leaves", () => {
  const dir = fresh();
  const first = lockDataDir(dir);
  first.describe({ pid: 1, address: "first" });
  rmSync(join(dir, "lock.db"));
  const second = lockDataDir(dir);
  second.describe({ pid: 2, address: "second" });
  first.release();
  expect(readFileSync(join(dir, "owner.json"), "utf8")).toContain("second");
  second.release();
  expect(existsSync(join(dir, "owner.json"))).toBe(false);
});

test("a process that is killed leaves no lock behind", async () => {
  const dir = fresh();
  const lock = JSON.stringify(join(import.meta.dir, "../../src/store/sqlite/lock.ts"));
  // The child forgets what it got and collects its garbage: the lock must stay all the same.
  const code = `import { lockDataDir } from ${lock}; lockDataDir(${JSON.stringify(dir)}); Bun.gc(true); setImmediate(() => { Bun.gc(true); console.log("locked"); }); setInterval(() => {}, 1e6);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  try {
    await child.stdout.getReader().read();
    expect(() => lockDataDir(dir)).toThrow("in use");
  } finally {
    child.kill(9);
    await child.exited;
  }
  lockDataDir(dir).release();
});

test("only its owner can read the database file", () => {
  const dir = join(fresh(), "data");
  openSqlite(join(dir, "svc.db"));
  expect(statSync(join(dir, "svc.db")).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});
