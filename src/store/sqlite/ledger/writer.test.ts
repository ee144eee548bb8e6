import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import {
  claimOf,
  entryOf,
  noonMs,
  receiptOf,
  unwritable,
  write,
} from "../../../../test/store/ledger-samples.ts";
import { idFloor, newId } from "../../../base/ids.ts";
import { hourMs } from "../../../ledger/rollups.ts";
import { NotSyncedError, UnwritableError } from "../../../ledger/store.ts";
import type { Store } from "../../store.ts";
import type { SumsMark } from "../reports/rollups.ts";
import type { Sqlite } from "../sqlite.ts";
import { createStore } from "../store.ts";
import { LedgerWriter } from "./writer.ts";

const root = useFolder();

let sqlite: Sqlite;
let store: Store;
let commits = 0;
let syncs: PromiseWithResolvers<void>[] = [];
let sums: SumsMark;
let told: string[] = [];
let writer: LedgerWriter;

beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "fingerprint");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000n }), auditOf());
  commits = 0;
  syncs = [];
  sums = { openFromId: idFloor("req", noonMs) };
  told = [];
  writer = new LedgerWriter({
    raw: sqlite.raw,
    sync() {
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
    onCommit: () => commits++,
    guard: () => {},
    sums,
    onReceipt: ({ id }) => told.push(id),
  });
});
afterEach(() => store.close());

const receipts = () =>
  sqlite.raw
    .query<{ id: string }, []>("select id from receipts order by id")
    .all()
    .map(({ id }) => id);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Whether it is settled once all that is due now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  for (let turns = 0; turns < 3; turns++) await turn();
  return settled;
}

describe("a commit", () => {
  test("is written at once, and resolves when the disk has confirmed it", async () => {
    const receipt = receiptOf();
    const done = writer.commit([write(receipt)]);
    expect(receipts()).toEqual([receipt.id]);
    expect(told).toEqual([receipt.id]);
    expect(commits).toBe(1);
    expect(await isSettled(done)).toBe(false);
    syncs[0]?.resolve();
    await done;
    expect(syncs).toHaveLength(1);
  });

  test("that the disk did not confirm says so, and its transaction stands", async () => {
    const receipt = receiptOf();
    const done = writer.commit([write(receipt)]);
    const cause = new Error("EIO");
    syncs[0]?.reject(cause);
    const error = await done.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotSyncedError);
    expect(error).toHaveProperty("cause", cause);
    expect(receipts()).toHaveLength(1);
    // It is told by then, and not again when it is written again for the disk to confirm.
    const again = writer.commit([write(receipt)]);
    syncs[1]?.resolve();
    await again;
    expect(told).toEqual([receipt.id]);
  });

  test("that the database refuses is told as such, and asks no disk for anything", async () => {
    const error = await writer
      .commit([write(receiptOf()), unwritable()])
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnwritableError);
    expect(sqlite.raw.inTransaction).toBe(false);
    expect([commits, syncs, receipts(), told]).toEqual([0, [], [], []]);
    const next = writer.commit([write(receiptOf())]);
    syncs[0]?.resolve();
    await next;
  });

  test("of nothing is refused by a database that cannot be written", async () => {
    sqlite.raw.run("PRAGMA query_only = ON");
    await expect(writer.commit([])).rejects.toThrow("readonly");
    const error = await writer.commit([write(receiptOf())]).catch((reason: unknown) => reason);
    // It may be written another time: it must not be dropped.
    expect(error).not.toBeInstanceOf(UnwritableError);
    sqlite.raw.run("PRAGMA query_only = OFF");
    expect(told).toEqual([]);
    for (const at of [0, 1, 2]) {
      const before = statSync(`${sqlite.path}-wal`).size;
      const done = writer.commit([]);
      // On a full disk only a page that is really written tells.
      expect(statSync(`${sqlite.path}-wal`).size).toBeGreaterThan(before);
      syncs[at]?.resolve();
      await done;
    }
  });

  test("waits for a transaction that is under way on the same connection", async () => {
    sqlite.raw.run("begin");
    const done = writer.commit([write(receiptOf())]);
    expect(await isSettled(done)).toBe(false);
    expect(receipts()).toEqual([]);
    sqlite.raw.run("commit");
    await turn();
    await turn();
    expect(receipts()).toHaveLength(1);
    syncs[0]?.resolve();
    await done;
  });

  test("waits for no transaction that never ends, and leaves it alone", async () => {
    sqlite.raw.run("begin");
    const error = await writer.commit([write(receiptOf())]).catch((reason: unknown) => reason);
    expect(String(error)).toContain("in progress");
    expect(error).not.toBeInstanceOf(UnwritableError);
    expect(sqlite.raw.inTransaction).toBe(true);
    sqlite.raw.run("commit");
    const next = writer.commit([write(receiptOf())]);
    syncs[0]?.resolve();
    await next;
    expect(receipts()).toHaveLength(1);
  });
});

describe("the mark of open hours", () => {
  const mark = () => store.ledger.rollups.openFromMs();
  const late = (ms: number) => receiptOf({ id: newId("req", ms) });
  const commit = async (...ms: number[]) => {
    const done = writer.commit(ms.map((one) => write(late(one))));
    syncs.at(-1)?.resolve();
    await done;
  };

  test("stays with receipts of open hours, and goes back to the hour of one that is older", async () => {
    await store.ledger.rollups.add([], noonMs);
    await commit(noonMs, noonMs + hourMs);
    expect([await mark(), sums.openFromId]).toEqual([noonMs, idFloor("req", noonMs)]);
    await commit(noonMs + 1, noonMs - 1, noonMs - 2 * hourMs + 5, noonMs - hourMs);
    const from = noonMs - 2 * hourMs;
    expect([await mark(), sums.openFromId]).toEqual([from, idFloor("req", from)]);
    await commit(noonMs - 1);
    expect(await mark()).toBe(from);
  });

  test("stays when the older receipt is refused, and goes back when it is written later", async () => {
    await store.ledger.rollups.add([], noonMs);
    const receipt = late(noonMs - 1);
    await expect(writer.commit([write(receipt), unwritable()])).rejects.toThrow();
    expect([await mark(), sums.openFromId]).toEqual([noonMs, idFloor("req", noonMs)]);
    const done = writer.commit([write(receipt)]);
    syncs.at(-1)?.resolve();
    await done;
    expect(await mark()).toBe(noonMs - hourMs);
    expect(told).toEqual([receipt.id]);
  });
});

describe("sums", () => {
  test("wait for a transaction that is under way and for a pause, as commits do", async () => {
    sqlite.raw.run("begin");
    const first = writer.addSums([], noonMs);
    expect(await isSettled(first)).toBe(false);
    sqlite.raw.run("commit");
    await first;
    expect(await store.ledger.rollups.openFromMs()).toBe(noonMs);
    const work = Promise.withResolvers<void>();
    const paused = writer.pause(() => work.promise);
    const second = writer.addSums([], noonMs + hourMs);
    expect(await isSettled(second)).toBe(false);
    expect(await store.ledger.rollups.openFromMs()).toBe(noonMs);
    work.resolve();
    await Promise.all([paused, second]);
    expect(await store.ledger.rollups.openFromMs()).toBe(noonMs + hourMs);
    expect(commits).toBe(2);
  });
});

describe("a pause", () => {
  test("holds commits back, and then they are written in their order", async () => {
    const work = Promise.withResolvers<void>();
    const paused = writer.pause(() => work.promise);
    const reply = (text: string) => new TextEncoder().encode(text);
    const commit = (text: string) =>
      writer.commit([{ type: "claim", claim: claimOf({ reply: reply(text) }) }]);
    const both = [commit("first"), commit("second")];
    for (const done of both) expect(await isSettled(done)).toBe(false);
    expect(commits).toBe(0);
    expect(await store.ledger.findClaim("claim_1")).toBeUndefined();
    work.resolve();
    await paused;
    await turn();
    expect(commits).toBe(2);
    for (const sync of syncs) sync.resolve();
    await Promise.all(both);
    expect((await store.ledger.findClaim("claim_1"))?.reply).toEqual(reply("second"));
  });

  test("that fails holds nobody back any longer", async () => {
    const work = Promise.withResolvers<void>();
    const paused = writer.pause(() => work.promise);
    const waiting = writer.commit([write(receiptOf())]);
    work.reject(new Error("no checkpoint"));
    await expect(paused).rejects.toThrow("no checkpoint");
    await turn();
    syncs[0]?.resolve();
    await waiting;
    const next = writer.commit([write(receiptOf())]);
    syncs[1]?.resolve();
    await next;
    expect(receipts()).toHaveLength(2);
  });

  test("holds back nothing but commits", async () => {
    const work = Promise.withResolvers<void>();
    const paused = writer.pause(() => work.promise);
    expect((await store.ledger.addEntry(entryOf(), auditOf())).result).toBe("added");
    work.resolve();
    await paused;
  });
});
