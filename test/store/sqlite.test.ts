import { expect, test } from "bun:test";
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
import { join } from "node:path";
import { realDatabasePath } from "../../src/store/sqlite/database-file.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { lockDatabase, lockDataDir } from "../../src/store/sqlite/lock.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { copyEmptyDatabase } from "../setup/empty-database.ts";
import { useFolder } from "../setup/folder.ts";
import { auditContract, ledgerWrites } from "./audit-contract.ts";
import { auditOf } from "./audit-sample.ts";
import { storeContract } from "./contract.ts";
import type { ContractDatabase } from "./contract-database.ts";
import { costsContract } from "./costs-contract.ts";
import { ledgerContract } from "./ledger-contract.ts";
import { receiptOf, write } from "./ledger-samples.ts";
import { namesContract } from "./names-contract.ts";
import { providersContract } from "./providers-contract.ts";

const root = useFolder();
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
  expect(statSync(`${path}-lock`).mode & 0o777).toBe(0o600);
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
