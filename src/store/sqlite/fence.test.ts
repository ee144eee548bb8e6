import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../../test/setup/folder.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import {
  claimOf,
  entryOf,
  noonMs,
  receiptOf,
  setLimits,
  write,
} from "../../../test/store/ledger-samples.ts";
import { FencedError } from "../../ledger/store.ts";
import type { Store } from "../store.ts";
import { openSqlite, type Sqlite } from "./sqlite.ts";
import { createStore } from "./store.ts";

const root = useFolder();

let path: string;
let sqlite: Sqlite;
let older: Store;
let newer: Store | undefined;

const account = { id: "acct_1", name: "default", createdAtMs: 1 };
const key = {
  id: "key_1",
  accountId: "acct_1",
  name: "k",
  hash: "h",
  hint: "x",
  createdAtMs: 1,
};
const provider = { name: "p", kind: "openai", baseUrl: "http://x", allowPrivate: false } as const;
const user = {
  id: "user_1",
  email: "a@b.c",
  name: "A",
  passwordHash: "x",
  isOperator: true,
  createdAtMs: 1,
};

beforeEach(async () => {
  path = join(mkdtempSync(join(root, "db-")), "svc.db");
  sqlite = openSqlite(path);
  older = await createStore(sqlite, "x");
  await older.accounts.insert(account, auditOf());
  await older.keys.insert(key, auditOf());
  await older.ledger.addEntry(entryOf({ nano: 1_000n }), auditOf());
  newer = await createStore(openSqlite(path), "x");
});
afterEach(async () => {
  await newer?.close();
  await older.close();
});

/** Every table, row by row. */
function contents(): unknown {
  const tables = sqlite.raw
    .query<{ name: string }, []>("select name from sqlite_master where type = 'table' order by 1")
    .all();
  return tables.map(({ name }) => [name, sqlite.raw.query(`select * from "${name}"`).all()]);
}

test("the newest process on a database writes; what an older one tries changes no table", async () => {
  const before = contents();
  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    receipt: () => older.ledger.commit([write(receiptOf())]),
    claim: () => older.ledger.commit([{ type: "claim", claim: claimOf() }]),
    probe: () => older.ledger.commit([]),
    sums: () => older.ledger.rollups.add([], noonMs),
    recount: () => older.ledger.rollups.recount(noonMs),
    entry: () => older.ledger.addEntry(entryOf({ nano: 1n, reference: "late" }), auditOf()),
    limits: () => setLimits(older.ledger, { limits: { rpm: 1 } }),
    claims: () => older.ledger.releaseRunningClaims(),
    erase: () => older.ledger.eraseClaims(noonMs),
    account: () => older.accounts.insert({ ...account, id: "acct_2", name: "late" }, auditOf()),
    suspend: () => older.accounts.setSuspended("acct_1", 5, auditOf()),
    key: () => older.keys.insert({ ...key, id: "key_2", hash: "i" }, auditOf()),
    revoke: () => older.keys.revoke("key_1", 5, auditOf()),
    uses: () => older.keys.noteUses(new Map([["key_1", 5]])),
    catalog: () => older.catalog.write({ atMs: 1, saveProviders: [provider] }, auditOf()),
    user: () => older.people.rename(user.id, "B", auditOf()),
    failure: () => older.people.countFailedSignIn(auditOf()),
    audit: () => older.audit.add(auditOf()),
  };
  for (const [name, attempt] of Object.entries(writes)) {
    const error = await attempt().catch((cause: unknown) => cause);
    expect({ name, isFenced: error instanceof FencedError }).toEqual({ name, isFenced: true });
  }
  expect(contents()).toEqual(before);
  await older.fenced;
});

test("the newest process writes on as if nobody else were there", async () => {
  await older.ledger.commit([write(receiptOf())]).catch(() => {});
  await newer?.ledger.commit([write(receiptOf())]);
  expect((await newer?.ledger.addEntry(entryOf({ reference: "more" }), auditOf()))?.result).toBe(
    "added",
  );
});

test("an older process still reads, and its check fails", async () => {
  expect(await older.accounts.list()).toHaveLength(1);
  await expect(older.check()).rejects.toBeInstanceOf(FencedError);
});

test("a process with another secret does not raise the epoch", async () => {
  const third = openSqlite(path);
  await expect(createStore(third, "another")).rejects.toThrow("another master secret");
  third.raw.close();
  await newer?.check();
});
