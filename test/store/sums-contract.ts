import { expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { hourMs, mergeInto, type Rollup } from "../../src/ledger/rollups.ts";
import {
  maxBalance,
  mixedReceipts,
  noonMs,
  receiptOf,
  startSums,
  sumUp,
  unwritableReceipt,
} from "./ledger-samples.ts";
import { accountIds, type SumsDatabase } from "./sums-database.ts";

export const order = (rollups: readonly Rollup[]) =>
  rollups.toSorted((one, other) =>
    JSON.stringify(toText(one)) < JSON.stringify(toText(other)) ? -1 : 1,
  );
const toText = ({ cost, charged, vendorCost, chargedKnown, ...rest }: Rollup) => ({
  ...rest,
  cost: String(cost),
  charged: String(charged),
  vendorCost: String(vendorCost),
  chargedKnown: String(chargedKnown),
});

/** Accounts have spent what these rows add up to. */
async function expectSpent(database: SumsDatabase, rows: readonly Rollup[]): Promise<void> {
  const expected = accountIds.map((accountId) => ({
    accountId,
    granted: maxBalance,
    spent: rows
      .filter((row) => row.accountId === accountId)
      .reduce((sum, { charged }) => sum + charged, 0n),
  }));
  expect(await database.leases()).toEqual(expected);
}

/** Of rows that no receipts stand for: only where accounts are charged by sums. */
async function expectSumsSpent(database: SumsDatabase, rows: readonly Rollup[]): Promise<void> {
  if (database.chargesSums) await expectSpent(database, rows);
}

/** What accounts have spent, and the sums of every hour, are those of these receipts. */
async function expectExact(database: SumsDatabase, receipts: readonly Receipt[]): Promise<void> {
  const rows = sumUp(receipts);
  expect(order(await database.rollups.list({}))).toEqual(order(rows));
  await expectSpent(database, rows);
}

export function rollupTests(database: () => SumsDatabase): void {
  const rollups = () => database().rollups;

  test("sums are added to what is there, and told by time, account and key", async () => {
    await database().fund();
    const once = sumUp(mixedReceipts());
    await rollups().add(once, noonMs);
    await expectSumsSpent(database(), once);
    await rollups().add(once, noonMs);
    const all = once.map((row) => {
      const twice = { ...row };
      mergeInto(twice, row);
      return twice;
    });
    expect(order(await rollups().list({}))).toEqual(order(all));
    const after = noonMs + hourMs;
    expect(order(await rollups().list({ fromMs: after }))).toEqual(
      order(all.filter((row) => row.hourMs >= after)),
    );
    expect(order(await rollups().list({ toMs: after, keyId: "key_1" }))).toEqual(
      order(all.filter((row) => row.hourMs < after && row.keyId === "key_1")),
    );
    expect(order(await rollups().list({ accountId: "acct_2" }))).toEqual(
      order(all.filter((row) => row.accountId === "acct_2")),
    );
    await expectSumsSpent(database(), all);
  });

  test("the mark of what is open moves with the sums, and can be taken away", async () => {
    expect(await rollups().openFromMs()).toBeUndefined();
    await rollups().add([], noonMs);
    expect(await rollups().openFromMs()).toBe(noonMs);
    await rollups().add([], undefined);
    expect(await rollups().openFromMs()).toBeUndefined();
  });

  test("a recount gives what was added up, from its hour on, and leaves the hours before", async () => {
    const receipts = mixedReceipts();
    await database().fund();
    await database().commit(receipts);
    const [first] = sumUp(receipts).filter((row) => row.hourMs === noonMs);
    if (first === undefined) throw new Error("there is one at noon");
    const wrong = { ...first, receipts: 99, charged: first.charged + 1n };
    await rollups().add([wrong, { ...first, hourMs: noonMs + hourMs, keyId: "key_9" }], noonMs);
    await rollups().recount(noonMs + hourMs);
    const later = sumUp(receipts).filter((row) => row.hourMs > noonMs);
    expect(later.length).toBeGreaterThan(3);
    expect(order(await rollups().list({}))).toEqual(order([wrong, ...later]));
    await expectSumsSpent(database(), [wrong, ...later]);
    await rollups().recount(0);
    await expectExact(database(), receipts);
    expect(await rollups().openFromMs()).toBeUndefined();
  });
}

/** What the next process does on the same database, while the one before has written no more. */
async function afterCrash(database: SumsDatabase, use: (next: SumsDatabase) => Promise<void>) {
  const next = await database.restart();
  expect(await next.rollups.openFromMs()).toBeUndefined();
  await use(next).finally(() => next.close());
}

export function recountTests(database: () => SumsDatabase): void {
  test.each([
    ["no flush", []],
    ["a flush at the start", [0]],
    ["a flush in the middle", [1]],
    ["flushes all along", [0, 1, 2]],
    ["a flush of everything", [0, 1, 2, 3]],
  ])("after a crash a recount makes all sums exact, with %s", async (_, flushAfter) => {
    await database().fund();
    const sums = await startSums(database());
    const receipts: Receipt[] = [];
    for (const at of [0, 1, 2, 3]) {
      const fresh = mixedReceipts(noonMs + at * 2 * hourMs);
      receipts.push(...fresh);
      await database().commit(fresh);
      if (flushAfter.includes(at)) await sums.flush(noonMs + at * 2 * hourMs);
    }
    await afterCrash(database(), async (next) => {
      await expectExact(next, receipts);
      const more = mixedReceipts(noonMs + 9 * hourMs);
      await startSums(next, noonMs + 9 * hourMs);
      await next.commit(more);
      receipts.push(...more);
    });
    for (const _crash of [1, 2])
      await afterCrash(database(), async (next) => {
        await expectExact(next, receipts);
        await next.rollups.recount(noonMs);
        await next.rollups.recount(noonMs);
        await expectExact(next, receipts);
      });
  });

  test("a recount leaves what was closed before the crash, though receipts say otherwise", async () => {
    await database().fund();
    const sums = await startSums(database());
    const early = [receiptOf(), receiptOf()];
    await database().commit(early);
    await sums.flush(noonMs + 6 * hourMs);
    const [closed] = sumUp(early);
    if (closed === undefined) throw new Error("there is one");
    const extra = { ...closed, keyId: "key_closed", charged: 3n };
    await database().rollups.add([extra], noonMs + 5 * hourMs);
    const later = mixedReceipts(noonMs + 5 * hourMs);
    await database().commit(later);
    await afterCrash(database(), async (next) => {
      const rows = [closed, extra, ...sumUp(later)];
      expect(order(await next.rollups.list({}))).toEqual(order(rows));
      await expectSumsSpent(next, rows);
    });
  });

  lateTests(database);
}

function lateTests(database: () => SumsDatabase): void {
  test("an hour is open again as soon as a receipt of it comes late, and a crash loses none", async () => {
    await database().fund();
    const { rollups } = database();
    const sums = await startSums(database());
    const early = mixedReceipts();
    await database().commit(early);
    await sums.flush(noonMs + 9 * hourMs);
    expect(await rollups.openFromMs()).toBe(noonMs + 8 * hourMs);
    const late = [2, 1, 3].map((hour) =>
      receiptOf({ id: newId("req", noonMs + hour * hourMs + 5) }),
    );
    const receipts = [...early];
    for (const [at, receipt] of late.entries()) {
      await database().commit([receipt]);
      receipts.push(receipt);
      expect(await rollups.openFromMs()).toBe(noonMs + (at === 0 ? 2 : 1) * hourMs);
    }
    await afterCrash(database(), (next) => expectExact(next, receipts));
  });

  test("an hour is open again also when its late receipt was refused with others at first", async () => {
    await database().fund();
    const { rollups } = database();
    await startSums(database(), noonMs + 9 * hourMs);
    const late = receiptOf();
    await expect(database().commit([late, unwritableReceipt()])).rejects.toThrow();
    expect(await rollups.openFromMs()).toBe(noonMs + 9 * hourMs);
    await database().commit([late]);
    expect(await rollups.openFromMs()).toBe(noonMs);
    await afterCrash(database(), (next) => expectExact(next, [late]));
  });

  test("a late receipt that is flushed is counted once, and its hour closes again", async () => {
    await database().fund();
    const { rollups } = database();
    const sums = await startSums(database(), noonMs + 9 * hourMs);
    const late = mixedReceipts();
    await database().commit(late);
    await sums.flush(noonMs + 10 * hourMs);
    expect(await rollups.openFromMs()).toBe(noonMs + 9 * hourMs);
    await expectExact(database(), late);
    const last = mixedReceipts(noonMs + 9 * hourMs);
    await database().commit(last);
    await afterCrash(database(), (next) => expectExact(next, [...late, ...last]));
  });

  reopeningTests(database);
}

function reopeningTests(database: () => SumsDatabase): void {
  test("an older receipt opens its hour also in a process that has added no sums yet", async () => {
    await database().fund();
    await database().rollups.add([], noonMs + hourMs);
    const other = await database().open();
    await other.commit([receiptOf()]);
    expect(await other.rollups.openFromMs()).toBe(noonMs);
    await other.close();
  });

  test("a receipt that comes after a recount opens its hour, and the next process counts it", async () => {
    await database().fund();
    const { rollups } = database();
    await rollups.add([], noonMs);
    await rollups.recount(noonMs);
    const receipt = receiptOf();
    await database().commit([receipt]);
    expect(await rollups.openFromMs()).toBe(noonMs);
    await afterCrash(database(), (next) => expectExact(next, [receipt]));
  });

  test("a receipt that comes after the last flush opens its hour, and the next process counts it", async () => {
    await database().fund();
    const { rollups } = database();
    const sums = await startSums(database());
    const receipts = mixedReceipts();
    await database().commit(receipts);
    await sums.flush(noonMs + hourMs, true);
    const late = receiptOf({ id: newId("req", noonMs + hourMs) });
    await database().commit([late]);
    expect(await rollups.openFromMs()).toBe(noonMs + hourMs);
    await afterCrash(database(), (next) => expectExact(next, [...receipts, late]));
  });
}
