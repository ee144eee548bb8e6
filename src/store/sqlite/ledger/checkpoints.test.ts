import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { claimOf, entryOf, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import type { Store } from "../../store.ts";
import { openSqlite } from "../sqlite.ts";
import { createStore } from "../store.ts";
import { Checkpoints } from "./checkpoints.ts";
import { LedgerWriter } from "./writer.ts";

const root = useFolder();
const neverMs = 1e8;

let path = "";
let store: Store;
let writer: LedgerWriter;
let checkpoints: Checkpoints;
let pauses = 0;
let errors: string[] = [];

beforeEach(async () => {
  path = join(mkdtempSync(join(root, "db-")), "svc.db");
  copyEmptyDatabase(path);
  const sqlite = openSqlite(path);
  store = await createStore(sqlite, "fingerprint");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000_000n }), auditOf());
  writer = new LedgerWriter({
    raw: sqlite.raw,
    sync: async () => {},
    onCommit: () => checkpoints.note(),
    guard: () => {},
    sums: { openFromId: "" },
    onReceipt: () => {},
  });
  pauses = 0;
  errors = [];
  checkpoints = new Checkpoints({
    path,
    everyMs: neverMs,
    onError: (detail) => errors.push(detail),
    pause(work) {
      pauses++;
      return writer.pause(work);
    },
  });
});
afterEach(async () => {
  await checkpoints.close();
  await store.close();
});

/** What the database file holds by itself, without its log. */
function countInFile(table: string): number {
  const copy = join(mkdtempSync(join(root, "copy-")), "svc.db");
  copyFileSync(path, copy);
  const database = new Database(copy);
  try {
    const row = database
      .query<{ count: number }, []>(`select count(*) as count from ${table}`)
      .get();
    return row?.count ?? -1;
  } catch {
    return 0;
  } finally {
    database.close();
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const walBytes = () => statSync(`${path}-wal`).size;
/** 17 pages each. */
const putReply = (at: number) =>
  writer.commit([
    { type: "claim", claim: claimOf({ id: `claim_${at}`, reply: new Uint8Array(64 * 1024) }) },
  ]);

test("what was committed is copied from the log into the database", async () => {
  for (let count = 0; count < 50; count++) await writer.commit([write(receiptOf())]);
  expect(countInFile("receipts")).toBe(0);
  await checkpoints.run();
  expect(countInFile("receipts")).toBe(50);
  expect(errors).toEqual([]);
  expect(pauses).toBe(0);
});

test("a log that was copied begins anew with the next commit", async () => {
  for (let at = 0; at < 50; at++) await putReply(at);
  await checkpoints.run();
  const before = walBytes();
  for (let at = 50; at < 95; at++) await putReply(at);
  expect(walBytes()).toBe(before);
});

test("commits that never stop are held back for a moment, so that the log stops growing", async () => {
  const cycles = 8;
  const perCycle = 300;
  const during = 60;
  const sizes: number[] = [];
  let made = 0;
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (let count = 0; count < perCycle; count++) await putReply(made++);
    const run = checkpoints.run();
    const late: Promise<void>[] = [];
    for (let count = 0; count < during; count++) {
      late.push(putReply(made++));
      await turn();
    }
    await run;
    await Promise.all(late);
    sizes.push(walBytes());
  }
  const cycleBytes = (perCycle + during) * 17 * 4_120;
  expect(pauses).toBe(cycles);
  expect(sizes.at(-1)).toBeLessThan(2.5 * cycleBytes);
  expect(errors).toEqual([]);
  for (let at = 0; at < made; at++)
    if ((await store.ledger.findClaim(`claim_${at}`)) === undefined) throw new Error(`lost ${at}`);
});

test("writes that nobody noted are copied, too, though seldom", async () => {
  await checkpoints.run();
  expect(countInFile("accounts")).toBe(0);
  for (let runs = 0; runs < 60; runs++) await checkpoints.run();
  expect(countInFile("accounts")).toBe(1);
});

test("runs at the same time are one", async () => {
  await writer.commit([write(receiptOf())]);
  const run = checkpoints.run();
  expect(checkpoints.run()).toBe(run);
  await run;
});

test("after closing nothing has the database open any more", async () => {
  await writer.commit([write(receiptOf())]);
  const run = checkpoints.run();
  await checkpoints.close();
  await run;
  expect(countInFile("receipts")).toBe(1);
  await store.close();
  // The last connection takes the log away.
  expect(existsSync(`${path}-wal`)).toBe(false);
  store = await createStore(openSqlite(path), "fingerprint");
});

test("a checkpoint that fails is told, and tried again without a further commit", async () => {
  const broken = join(mkdtempSync(join(root, "db-")), "svc.db");
  writeFileSync(broken, "this is no database at all ".repeat(1_000));
  const told: string[] = [];
  const failing = new Checkpoints({
    path: broken,
    everyMs: neverMs,
    pause: (work) => work(),
    onError: (detail) => told.push(detail),
  });
  failing.note();
  await failing.run();
  await failing.run();
  await failing.close();
  expect(told).toHaveLength(2);
  expect(told[0]).toContain("not a database");
});
