import { expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { hourMs, mergeInto, type Rollup } from "../../src/ledger/rollups.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import type { Opened } from "./ledger-samples.ts";
import {
  above2to53,
  entryOf,
  maxBalance,
  mixedReceipts,
  noonMs,
  receiptOf,
  startSums,
  sumUp,
  unwritable,
  write,
} from "./ledger-samples.ts";

const accountIds = ["acct_1", "acct_2"];

const order = (rollups: readonly Rollup[]) =>
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

async function fund({ ledger }: Store): Promise<void> {
  for (const accountId of accountIds)
    await ledger.addEntry(entryOf({ accountId, nano: maxBalance }), auditOf());
}

const commit = ({ ledger }: Store, receipts: readonly Receipt[]) =>
  ledger.commit(receipts.map((receipt) => write(receipt)));

async function expectSpent({ ledger }: Store, rows: readonly Rollup[]): Promise<void> {
  const expected = accountIds.map((accountId) => ({
    accountId,
    granted: maxBalance,
    spent: rows
      .filter((row) => row.accountId === accountId)
      .reduce((sum, { charged }) => sum + charged, 0n),
  }));
  expect(await ledger.leases()).toEqual(expected);
}

/** What accounts have spent, and the sums of every hour, are those of these receipts. */
async function expectExact(store: Store, receipts: readonly Receipt[]): Promise<void> {
  const rows = sumUp(receipts);
  expect(order(await store.ledger.rollups.list({}))).toEqual(order(rows));
  await expectSpent(store, rows);
}

export function rollupTests(opened: () => Opened): void {
  const rollups = () => opened().store.ledger.rollups;

  test("sums are added to what is there, and told by time, account and key", async () => {
    await fund(opened().store);
    const once = sumUp(mixedReceipts());
    await rollups().add(once, noonMs);
    await expectSpent(opened().store, once);
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
    await expectSpent(opened().store, all);
  });

  test("the mark of what is open moves with the sums, and can be taken away", async () => {
    expect(await rollups().openFromMs()).toBeUndefined();
    await rollups().add([], noonMs);
    expect(await rollups().openFromMs()).toBe(noonMs);
    await rollups().add([], undefined);
    expect(await rollups().openFromMs()).toBeUndefined();
  });

  test("a recount gives what was added up, from its hour on, and leaves the hours before", async () => {
    const { store } = opened();
    const receipts = mixedReceipts();
    await fund(store);
    await commit(store, receipts);
    const [first] = sumUp(receipts).filter((row) => row.hourMs === noonMs);
    if (first === undefined) throw new Error("there is one at noon");
    const wrong = { ...first, receipts: 99, charged: first.charged + 1n };
    await rollups().add([wrong, { ...first, hourMs: noonMs + hourMs, keyId: "key_9" }], noonMs);
    await rollups().recount(noonMs + hourMs);
    const later = sumUp(receipts).filter((row) => row.hourMs > noonMs);
    expect(later.length).toBeGreaterThan(3);
    expect(order(await rollups().list({}))).toEqual(order([wrong, ...later]));
    await expectSpent(store, [wrong, ...later]);
    await rollups().recount(0);
    await expectExact(store, receipts);
    expect(await rollups().openFromMs()).toBeUndefined();
  });
}

/** What the next process does on the same database, while the one before has written no more. */
async function afterCrash({ database }: Opened, use: (store: Store) => Promise<void>) {
  const store = await database.open();
  const { rollups } = store.ledger;
  const openFromMs = await rollups.openFromMs();
  if (openFromMs !== undefined) await rollups.recount(openFromMs);
  expect(await rollups.openFromMs()).toBeUndefined();
  await use(store).finally(() => store.close());
}

export function recountTests(opened: () => Opened): void {
  const store = () => opened().store;

  test.each([
    ["no flush", []],
    ["a flush at the start", [0]],
    ["a flush in the middle", [1]],
    ["flushes all along", [0, 1, 2]],
    ["a flush of everything", [0, 1, 2, 3]],
  ])("after a crash a recount makes all sums exact, with %s", async (_, flushAfter) => {
    await fund(store());
    const sums = await startSums(store().ledger);
    const receipts: Receipt[] = [];
    for (const at of [0, 1, 2, 3]) {
      const fresh = mixedReceipts(noonMs + at * 2 * hourMs);
      receipts.push(...fresh);
      await commit(store(), fresh);
      if (flushAfter.includes(at)) await sums.flush(noonMs + at * 2 * hourMs);
    }
    await afterCrash(opened(), async (next) => {
      await expectExact(next, receipts);
      const more = mixedReceipts(noonMs + 9 * hourMs);
      await startSums(next.ledger, noonMs + 9 * hourMs);
      await commit(next, more);
      receipts.push(...more);
    });
    for (const _crash of [1, 2])
      await afterCrash(opened(), async (next) => {
        await expectExact(next, receipts);
        await next.ledger.rollups.recount(noonMs);
        await next.ledger.rollups.recount(noonMs);
        await expectExact(next, receipts);
      });
  });

  test("a recount leaves what was closed before the crash, though receipts say otherwise", async () => {
    await fund(store());
    const sums = await startSums(store().ledger);
    const early = [receiptOf(), receiptOf()];
    await commit(store(), early);
    await sums.flush(noonMs + 6 * hourMs);
    const [closed] = sumUp(early);
    if (closed === undefined) throw new Error("there is one");
    const extra = { ...closed, keyId: "key_closed", charged: 3n };
    await store().ledger.rollups.add([extra], noonMs + 5 * hourMs);
    const later = mixedReceipts(noonMs + 5 * hourMs);
    await commit(store(), later);
    await afterCrash(opened(), async (next) => {
      const rows = [closed, extra, ...sumUp(later)];
      expect(order(await next.ledger.rollups.list({}))).toEqual(order(rows));
      await expectSpent(next, rows);
    });
  });

  lateTests(opened);
}

function lateTests(opened: () => Opened): void {
  const store = () => opened().store;

  test("an hour is open again as soon as a receipt of it comes late, and a crash loses none", async () => {
    await fund(store());
    const { ledger } = store();
    const sums = await startSums(ledger);
    const early = mixedReceipts();
    await commit(store(), early);
    await sums.flush(noonMs + 9 * hourMs);
    expect(await ledger.rollups.openFromMs()).toBe(noonMs + 8 * hourMs);
    const late = [2, 1, 3].map((hour) =>
      receiptOf({ id: newId("req", noonMs + hour * hourMs + 5) }),
    );
    const receipts = [...early];
    for (const [at, receipt] of late.entries()) {
      await commit(store(), [receipt]);
      receipts.push(receipt);
      expect(await ledger.rollups.openFromMs()).toBe(noonMs + (at === 0 ? 2 : 1) * hourMs);
    }
    await afterCrash(opened(), (next) => expectExact(next, receipts));
  });

  test("an hour is open again also when its late receipt was refused with others at first", async () => {
    await fund(store());
    const { ledger } = store();
    await startSums(ledger, noonMs + 9 * hourMs);
    const late = receiptOf();
    await expect(ledger.commit([write(late), unwritable()])).rejects.toThrow();
    expect(await ledger.rollups.openFromMs()).toBe(noonMs + 9 * hourMs);
    await commit(store(), [late]);
    expect(await ledger.rollups.openFromMs()).toBe(noonMs);
    await afterCrash(opened(), (next) => expectExact(next, [late]));
  });

  test("a late receipt that is flushed is counted once, and its hour closes again", async () => {
    await fund(store());
    const { ledger } = store();
    const sums = await startSums(ledger, noonMs + 9 * hourMs);
    const late = mixedReceipts();
    await commit(store(), late);
    await sums.flush(noonMs + 10 * hourMs);
    expect(await ledger.rollups.openFromMs()).toBe(noonMs + 9 * hourMs);
    await expectExact(store(), late);
    const last = mixedReceipts(noonMs + 9 * hourMs);
    await commit(store(), last);
    await afterCrash(opened(), (next) => expectExact(next, [...late, ...last]));
  });

  reopeningTests(opened);
}

function reopeningTests(opened: () => Opened): void {
  const store = () => opened().store;

  test("an older receipt opens its hour also in a process that has added no sums yet", async () => {
    await store().ledger.rollups.add([], noonMs + hourMs);
    const other = await opened().database.open();
    await commit(other, [receiptOf()]).finally(() => other.close());
    expect(await store().ledger.rollups.openFromMs()).toBe(noonMs);
  });

  test("a receipt that comes after a recount opens its hour, and the next process counts it", async () => {
    await fund(store());
    const { ledger } = store();
    await ledger.rollups.add([], noonMs);
    await ledger.rollups.recount(noonMs);
    const receipt = receiptOf();
    await commit(store(), [receipt]);
    expect(await ledger.rollups.openFromMs()).toBe(noonMs);
    await afterCrash(opened(), (next) => expectExact(next, [receipt]));
  });

  test("a receipt that comes after the last flush opens its hour, and the next process counts it", async () => {
    await fund(store());
    const { ledger } = store();
    const sums = await startSums(ledger);
    const receipts = mixedReceipts();
    await commit(store(), receipts);
    await sums.flush(noonMs + hourMs, true);
    const late = receiptOf({ id: newId("req", noonMs + hourMs) });
    await commit(store(), [late]);
    expect(await ledger.rollups.openFromMs()).toBe(noonMs + hourMs);
    await afterCrash(opened(), (next) => expectExact(next, [...receipts, late]));
  });
}

export function readerTests(opened: () => Opened): void {
  test("a reader sees one moment of all of it, and what came later not", async () => {
    const { store, database } = opened();
    const { ledger } = store;
    const receipt = receiptOf();
    const budget = { ownerId: "key_1", periodStartMs: 0 };
    const credit = entryOf({ nano: 500n });
    await ledger.addEntry(credit, auditOf());
    await ledger.commit([write(receipt, [budget])]);
    await ledger.rollups.add(sumUp([receipt]), noonMs);
    const reader = database.openReader();
    await ledger.addEntry(entryOf(), auditOf());
    await ledger.commit([write(receiptOf(), [budget])]);
    await ledger.rollups.add(sumUp([receipt]), undefined);
    await store.accounts.insert({ id: "acct_3", name: "late", createdAtMs: 1 }, auditOf());
    expect(await Array.fromAsync(reader.receipts({}))).toEqual([receipt]);
    expect(await reader.entries()).toEqual([credit]);
    expect(await reader.leases()).toContainEqual({
      accountId: "acct_1",
      granted: 500n,
      spent: 10n,
    });
    expect(await reader.budgetSpends()).toEqual([{ ...budget, spent: 10n }]);
    expect(await reader.rollups()).toMatchObject({ list: sumUp([receipt]), openFromMs: noonMs });
    expect((await reader.accounts()).map(({ id }) => id)).toEqual(["acct_1", "acct_2"]);
    await reader.close();
    const later = database.openReader();
    expect(await Array.fromAsync(later.receipts({}))).toHaveLength(2);
    await later.close();
  });

  test("a receipt is read as it was written, every field and digit of it", async () => {
    const { store, database } = opened();
    const full = receiptOf({
      endpoint: "speech",
      estimated: true,
      hold: above2to53 + 2n,
      cost: above2to53,
      charged: 1n,
      vendorCost: above2to53 + 4n,
      outcome: "left",
      firstByteMs: 3,
    });
    await store.ledger.addEntry(entryOf(), auditOf());
    await store.ledger.commit([write(full)]);
    const reader = database.openReader();
    expect(await reader.receipt(full.id)).toEqual(full);
    expect(await reader.receipt("req_none")).toBeUndefined();
    await reader.close();
  });
}

export function findingTests(opened: () => Opened): void {
  test("receipts are found by what they are of, in the order asked for", async () => {
    const { store, database } = opened();
    await store.ledger.addEntry(entryOf(), auditOf());
    const [first, second, third] = [
      receiptOf({ id: newId("req", noonMs), charged: 0n }),
      receiptOf({ id: newId("req", noonMs + 1), charged: 0n, accountId: "acct_2", keyId: "key_2" }),
      receiptOf({ id: newId("req", noonMs + 2), charged: 0n, model: "n", outcome: "left" }),
    ];
    await store.ledger.commit([first, second, third].map((receipt) => write(receipt)));
    const reader = database.openReader();
    const found = async (filter: Parameters<typeof reader.receipts>[0]) =>
      (await Array.fromAsync(reader.receipts(filter))).map(({ id }) => id);
    expect(await found({})).toEqual([third.id, second.id, first.id]);
    expect(await found({ oldestFirst: true })).toEqual([first.id, second.id, third.id]);
    expect(await found({ limit: 1 })).toEqual([third.id]);
    expect(await found({ fromMs: noonMs + 1, toMs: noonMs + 2 })).toEqual([second.id]);
    expect(await found({ accountId: "acct_2" })).toEqual([second.id]);
    expect(await found({ keyId: "key_2" })).toEqual([second.id]);
    expect(await found({ model: "n" })).toEqual([third.id]);
    expect(await found({ outcome: "left" })).toEqual([third.id]);
    for await (const { id } of reader.receipts({})) if (id === third.id) break;
    await reader.close();
  });

  test("prices are told with their versions, those that end one, too", async () => {
    const { store, database } = opened();
    const model = {
      id: "m",
      endpoint: "chat" as const,
      input: "text" as const,
      ownedBy: "svc",
      createdAtMs: 1,
      prices: [],
      routes: [],
      lifecycle: {},
    };
    const price = { input: 2n ** 70n + 1n };
    const from = { modelId: "m", effectiveAtMs: 1, createdAtMs: 1 };
    await store.catalog.write(
      {
        atMs: 1,
        saveModels: [model],
        addPrices: [
          { ...from, price },
          { ...from, price: undefined },
        ],
      },
      auditOf(),
    );
    const reader = database.openReader();
    expect(await reader.prices()).toEqual([
      { modelId: "m", version: 1, effectiveAtMs: 1, price },
      { modelId: "m", version: 2, effectiveAtMs: 1, price: null },
    ]);
    await reader.close();
  });
}
