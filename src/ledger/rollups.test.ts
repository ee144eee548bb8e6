import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../test/setup/empty-database.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { entryOf, maxCallMs, noonMs, receiptOf, write } from "../../test/store/ledger-samples.ts";
import { newId } from "../base/ids.ts";
import { createStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import type { Receipt } from "./receipt.ts";
import { hourMs, type Rollup, type RollupStore, Rollups } from "./rollups.ts";

const root = mkdtempSync(join(tmpdir(), "svc-rollups-"));
afterAll(() => rmSync(root, { recursive: true }));

let store: Store;
/** All that were committed. */
let committed: Receipt[];
beforeEach(async () => {
  store = await createStore(openEmptyDatabase(root), "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000_000n }), auditOf());
  committed = [];
});
afterEach(() => store.close());

/** Written, and told to these sums by the store. */
async function commit(rollups: Rollups, receipts: readonly Receipt[]): Promise<void> {
  store.ledger.watch((receipt) => rollups.add(receipt));
  await store.ledger.commit(receipts.map((receipt) => write(receipt)));
  committed.push(...receipts);
}

let timed = 0;

/** Other ones each time: of answers that streamed, came whole, or never came. */
function timesOf(at: number): Pick<Receipt, "durationMs" | "firstByteMs"> {
  const durationMs = 1 + ((++timed * 7_919) % 60_000);
  return { durationMs, firstByteMs: [durationMs - 1, durationMs, undefined][at % 3] };
}

function receiptsAt(beganMs: number, count = 100): Receipt[] {
  return Array.from({ length: count }, (_, at) =>
    receiptOf({
      id: newId("req", beganMs),
      keyId: `key_${at}`,
      provider: at % 2 === 0 ? "p" : "q",
      outcome: at % 3 === 0 ? "upstream_error" : "ok",
      vendorCost: at % 4 === 0 ? BigInt(at) : undefined,
      ...timesOf(at),
    }),
  );
}

/** What is there must be what a recount of everything makes, and what accounts have spent too. */
async function expectExact(): Promise<readonly Rollup[]> {
  const found = await store.ledger.rollups.list({});
  const spent = committed.reduce((sum, { charged }) => sum + charged, 0n);
  expect((await store.ledger.lease("acct_1"))?.spent).toBe(spent);
  await store.ledger.rollups.recount(0);
  const recounted = await store.ledger.rollups.list({});
  expect(found).toEqual(recounted);
  return found;
}

/** The same store, which fails when told to. */
function failing(fails: (step: "openFromMs" | "add") => boolean): RollupStore {
  const { rollups } = store.ledger;
  const check = (step: "openFromMs" | "add") => {
    if (fails(step)) throw new Error(`no ${step}`);
  };
  return {
    list: (filter) => rollups.list(filter),
    recount: (fromMs) => rollups.recount(fromMs),
    fold: (beforeMs) => rollups.fold(beforeMs),
    async openFromMs() {
      const mark = await rollups.openFromMs();
      check("openFromMs");
      return mark;
    },
    async add(rows, openFromMs) {
      check("add");
      await rollups.add(rows, openFromMs);
    },
  };
}

test("receipts are unwritten until the store has their sums, also while it writes or fails", async () => {
  const seen: boolean[] = [];
  let isFull = true;
  const rollups: Rollups = new Rollups(
    {
      ...store.ledger.rollups,
      openFromMs: () => store.ledger.rollups.openFromMs(),
      add: async (rows, openFromMs) => {
        seen.push(lacks("acct_1"), lacks("acct_2"));
        if (isFull) throw new Error("disk full");
        await store.ledger.rollups.add(rows, openFromMs);
      },
    },
    maxCallMs,
  );
  const lacks = (accountId?: string) => rollups.unwrittenSinceMs(accountId) !== undefined;
  expect(lacks()).toBe(false);
  await commit(rollups, receiptsAt(noonMs, 3));
  expect([lacks(), lacks("acct_2")]).toEqual([true, false]);
  await expect(rollups.write(noonMs)).rejects.toThrow("disk full");
  const sinceMs = rollups.unwrittenSinceMs("acct_1") ?? 0;
  expect(sinceMs - noonMs).toBeWithin(0, 60_000);
  isFull = false;
  await rollups.write(noonMs);
  expect(lacks()).toBe(false);
  expect(seen).toEqual([true, false, true, false]);
});

test("sums that were added up and written over several flushes are exact", async () => {
  const rollups = new Rollups(store.ledger.rollups, maxCallMs);
  await rollups.start(noonMs);
  await commit(rollups, receiptsAt(noonMs));
  await rollups.flush(noonMs + 1_000);
  await commit(rollups, receiptsAt(noonMs));
  await commit(rollups, receiptsAt(noonMs + hourMs));
  await Promise.all([rollups.flush(noonMs + hourMs), rollups.flush(noonMs + hourMs)]);
  const found = await expectExact();
  expect(found).toHaveLength(200);
  expect(found[0]).toMatchObject({ receipts: 2, failures: 2, inputTokens: 12, outputTokens: 18 });
  expect(found[1]).toMatchObject({ failures: 0, vendorKnown: 0 });
});

test("the shortest and longest times are kept, and the first byte counts where the answer streamed", async () => {
  const rollups = new Rollups(store.ledger.rollups, maxCallMs);
  await rollups.start(noonMs);
  const times = [
    { durationMs: 900, firstByteMs: 900 },
    { durationMs: 5_000, firstByteMs: 300 },
    { durationMs: 40, firstByteMs: undefined },
    { durationMs: 2_000, firstByteMs: 1_999 },
  ];
  for (const each of times) {
    await commit(rollups, [receiptOf({ id: newId("req", noonMs), ...each })]);
    await rollups.flush(noonMs);
  }
  const [found] = await expectExact();
  expect(found).toMatchObject({
    shortestMs: 40,
    longestMs: 5_000,
    shortestFirstByteMs: 300,
    longestFirstByteMs: 1_999,
  });
  expect(found?.firstBytes.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test("what a crash took from memory is summed anew by the next process", async () => {
  const first = new Rollups(store.ledger.rollups, maxCallMs);
  await first.start(noonMs);
  await commit(first, receiptsAt(noonMs, 10));
  await first.flush(noonMs + 60_000);
  // Of an hour that has been written already, and of one that has not; neither is flushed.
  await commit(first, receiptsAt(noonMs + 120_000, 10));
  await commit(first, receiptsAt(noonMs + hourMs, 10));
  const second = new Rollups(store.ledger.rollups, maxCallMs);
  await second.start(noonMs + hourMs + 1_000);
  await commit(second, receiptsAt(noonMs + hourMs + 2_000, 10));
  await second.flush(noonMs + hourMs + 3_000);
  expect(await expectExact()).toHaveLength(20);
});

test("a crash in the middle of a flush counts nothing twice", async () => {
  let adds = 0;
  const first = new Rollups(
    failing((step) => step === "add" && ++adds === 3),
    maxCallMs,
  );
  await first.start(noonMs);
  await commit(first, receiptsAt(noonMs, 100));
  // Two hours later: were the mark moved too soon, the rest would never be counted.
  await expect(first.flush(noonMs + 2 * hourMs)).rejects.toThrow("no add");
  expect((await store.ledger.rollups.list({})).length).toBeGreaterThan(0);
  expect(await store.ledger.rollups.openFromMs()).toBe(noonMs);
  await new Rollups(store.ledger.rollups, maxCallMs).start(noonMs + 3 * hourMs);
  expect(await expectExact()).toHaveLength(100);
});

test.each(["openFromMs", "add"] as const)(
  "what could not be written is kept, also when more comes meanwhile (%s fails)",
  async (step) => {
    const meanwhile = receiptsAt(noonMs, 100);
    const writing: Promise<void>[] = [];
    let isDown = false;
    let calls = 0;
    const rollups = new Rollups(
      failing((asked) => {
        // The first piece is written, and the second is not.
        if (!isDown || asked !== step || (step === "add" && ++calls === 1)) return false;
        writing.push(commit(rollups, meanwhile));
        return true;
      }),
      maxCallMs,
    );
    await rollups.start(noonMs);
    await commit(rollups, receiptsAt(noonMs, 100));
    isDown = true;
    await expect(rollups.flush(noonMs)).rejects.toThrow(`no ${step}`);
    isDown = false;
    await Promise.all(writing);
    await rollups.flush(noonMs);
    const found = await expectExact();
    expect(found.map(({ receipts }) => receipts)).toEqual(found.map(() => 2));
  },
);

test("the mark stays behind by the longest call, and goes with the last flush", async () => {
  const { rollups: stored } = store.ledger;
  const rollups = new Rollups(stored, maxCallMs);
  await rollups.start(noonMs + 5);
  expect(await stored.openFromMs()).toBe(noonMs);
  await rollups.flush(noonMs + hourMs + maxCallMs - 1);
  expect(await stored.openFromMs()).toBe(noonMs);
  await rollups.flush(noonMs + hourMs + maxCallMs);
  expect(await stored.openFromMs()).toBe(noonMs + hourMs);
  await rollups.flush(noonMs + 2 * hourMs, true);
  expect(await stored.openFromMs()).toBeUndefined();
});

test("a process that ended well leaves nothing to sum anew", async () => {
  const first = new Rollups(store.ledger.rollups, maxCallMs);
  await first.start(noonMs);
  await commit(first, receiptsAt(noonMs, 3));
  await first.flush(noonMs, true);
  const recounts: number[] = [];
  const spied = failing(() => false);
  const second = new Rollups(
    { ...spied, recount: async (fromMs) => void recounts.push(fromMs) },
    maxCallMs,
  );
  await second.start(noonMs + 60_000);
  expect(recounts).toEqual([]);
  await expectExact();
});

test("a gateway at rest writes nothing", async () => {
  let adds = 0;
  const rollups = new Rollups(
    failing((step) => {
      if (step === "add") adds++;
      return false;
    }),
    maxCallMs,
  );
  await rollups.start(noonMs);
  for (let count = 0; count < 5; count++) await rollups.flush(noonMs + maxCallMs + count);
  expect(adds).toBe(1);
});

/** While the next process takes over, this one has a flush behind it that a late receipt came into. */
async function flushWithLate(options: {
  readonly during: "openFromMs" | "add";
  readonly call: number;
}): Promise<void> {
  let calls = 0;
  const written = Promise.withResolvers<void>();
  const late = () => commit(rollups, receiptsAt(noonMs, 10)).then(written.resolve, written.reject);
  const rollups = new Rollups(
    failing((step) => {
      if (isFlushing && step === options.during && ++calls === options.call) setImmediate(late);
      return false;
    }),
    maxCallMs,
  );
  let isFlushing = false;
  await rollups.start(noonMs + 9 * hourMs);
  await commit(rollups, receiptsAt(noonMs + 9 * hourMs, 90));
  isFlushing = true;
  await rollups.flush(noonMs + 9 * hourMs);
  await written.promise;
}

test.each([
  { during: "openFromMs", call: 1 },
  { during: "add", call: 1 },
  { during: "add", call: 3 },
  { during: "add", call: 4 },
] as const)("a late receipt that comes into a flush is not lost by a crash (%o)", async (when) => {
  await flushWithLate(when);
  expect(await store.ledger.rollups.openFromMs()).toBe(noonMs);
  await new Rollups(store.ledger.rollups, maxCallMs).start(noonMs + 10 * hourMs);
  expect(await expectExact()).toHaveLength(100);
});

test("a crash in the middle of a flush of late receipts loses none of them", async () => {
  let asked = 0;
  let adds = 0;
  let late: Promise<void> | undefined;
  const first = new Rollups(
    failing((step) => {
      // After the mark was read, and before what is to be written is gathered.
      if (step === "openFromMs" && ++asked === 2) late = commit(first, receiptsAt(noonMs, 60));
      return step === "add" && asked === 2 && ++adds === 3;
    }),
    maxCallMs,
  );
  await first.start(noonMs + 9 * hourMs);
  await expect(first.flush(noonMs + 9 * hourMs)).rejects.toThrow("no add");
  await late;
  await new Rollups(store.ledger.rollups, maxCallMs).start(noonMs + 10 * hourMs);
  expect(await expectExact()).toHaveLength(60);
});

test("who waits for the sums does not wait until closed hours are in their days", async () => {
  const { rollups: real } = store.ledger;
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let pieces = 0;
  const rollups = new Rollups(
    {
      ...failing(() => false),
      async fold(beforeMs) {
        pieces++;
        begun.resolve();
        await held.promise;
        return real.fold(beforeMs);
      },
    },
    maxCallMs,
  );
  await rollups.start(noonMs);
  await commit(rollups, receiptsAt(noonMs, 300));
  const folding = rollups.flush(noonMs + 3 * hourMs);
  await begun.promise;
  await commit(rollups, receiptsAt(noonMs + 3 * hourMs, 10));
  const asked = rollups.write(noonMs + 3 * hourMs);
  held.resolve();
  await asked;
  // It came after the piece that was under way, and before the next.
  expect(pieces).toBe(1);
  await folding;
  expect(pieces).toBeGreaterThan(5);
  await expectExact();
});
