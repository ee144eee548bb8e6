import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeContract } from "./contract.ts";
import { lockDataDir } from "./lock.ts";
import { migrate } from "./migrations.ts";
import { openSqlite } from "./sqlite.ts";
import { createStore } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "svc-store-"));
afterAll(() => rmSync(root, { recursive: true }));
const fresh = () => mkdtempSync(join(root, "db-"));

storeContract("SQLite", async () => {
  const dir = fresh();
  return {
    open: (fingerprint = "fingerprint") =>
      createStore(openSqlite(join(dir, "svc.db")), fingerprint),
    remove: async () => rmSync(dir, { recursive: true }),
  };
});

test("refuses a database that a newer version wrote, and leaves it as it was", async () => {
  const db = openSqlite(join(fresh(), "svc.db"));
  await migrate(db, { "0001-a": { up: async () => {} }, "0002-later": { up: async () => {} } });
  await expect(createStore(db, "x")).rejects.toThrow("newer version (it has 0001-a, 0002-later)");
  expect((await db.introspection.getTables()).map(({ name }) => name)).toEqual([]);
});

test("a migration that fails leaves nothing behind", async () => {
  const db = openSqlite(join(fresh(), "svc.db"));
  const failing = {
    "0001-half": {
      up: async (target: typeof db) => {
        await target.schema.createTable("half").addColumn("id", "text").execute();
        throw new Error("disk full");
      },
    },
  };
  await expect(migrate(db, failing)).rejects.toThrow("disk full");
  expect((await db.introspection.getTables()).map(({ name }) => name)).toEqual([]);
});

test("one process owns a data directory, and the next is told where it runs", () => {
  const dir = fresh();
  const lock = lockDataDir(dir);
  lock.describe({ pid: 42, address: "http://127.0.0.1:8080" });
  expect(() => lockDataDir(dir)).toThrow("already running at http://127.0.0.1:8080 (process 42)");
  lock.release();
  lockDataDir(dir).release();
});

test("a process that is killed leaves no lock behind", async () => {
  const dir = fresh();
  const lock = JSON.stringify(join(import.meta.dir, "lock.ts"));
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
