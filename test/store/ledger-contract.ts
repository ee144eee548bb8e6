import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ReceiptAttempt } from "../../src/ledger/attempt.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { emptyRollup, toHour } from "../../src/ledger/rollups.ts";
import { type LedgerWrite, UnwritableError } from "../../src/ledger/store.ts";
import { auditOf } from "./audit-sample.ts";
import { claimTests } from "./claims-contract.ts";
import type { ContractDatabase } from "./contract-database.ts";
import { exportTests } from "./exports-contract.ts";
import { foldTests } from "./fold-contract.ts";
import { keyTests } from "./key-contract.ts";
import { findingTests, readerTests } from "./ledger-reading-contract.ts";
import type { Opened } from "./ledger-samples.ts";
import {
  above2to53,
  claimOf,
  closeOpened,
  entryOf,
  maxBalance,
  noonMs,
  receiptOf,
  setLimits,
  startSums,
  unwritable,
  write,
} from "./ledger-samples.ts";
import { limitTests } from "./limits-contract.ts";
import { halfFoldedTest, reportsContract } from "./reports-contract.ts";
import { retentionTests } from "./retention-contract.ts";
import { recountTests, rollupTests } from "./sums-contract.ts";
import { sumsOf } from "./sums-database.ts";

/** What the ledger relies on, whatever the database. */
export function ledgerContract(name: string, create: () => Promise<ContractDatabase>): void {
  const open = async (): Promise<Opened> => {
    const database = await create();
    const store = await database.open();
    for (const id of ["acct_1", "acct_2"])
      await store.accounts.insert({ id, name: `name of ${id}`, createdAtMs: 1 }, auditOf());
    return { database, store };
  };
  reportsContract(name, open);
  describe(`ledger contract on ${name}`, () => {
    let opened: Opened;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => closeOpened(opened));
    entryTests(() => opened);
    commitTests(() => opened);
    attemptTests(() => opened);
    refusalTests(() => opened);
    claimTests(() => opened);
    limitTests(() => opened);
    keyTests(() => opened);
    rollupTests(() => sumsOf(opened));
    recountTests(() => sumsOf(opened));
    foldTests(() => sumsOf(opened));
    readerTests(() => opened);
    findingTests(() => opened);
    halfFoldedTest(() => sumsOf(opened));
    retentionTests(() => opened);
    exportTests(() => opened);
  });
}

function entryTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;
  const balance = async () => {
    const lease = await ledger().lease("acct_1");
    return (lease?.granted ?? -1n) - (lease?.spent ?? 0n);
  };

  test("an entry moves the balance of its account alone, to the last digit", async () => {
    const credit = entryOf({ nano: above2to53, note: "thanks" });
    const before = await opened().store.feed.latest();
    expect(await ledger().addEntry(credit, auditOf())).toEqual({ result: "added", entry: credit });
    const feed = await opened().store.feed.since(before);
    expect(feed?.map(({ topic, subject }) => `${topic}:${subject}`)).toEqual(["accounts:acct_1"]);
    const withdrawal = entryOf({ kind: "withdrawal", nano: -1n });
    expect((await ledger().addEntry(withdrawal, auditOf())).result).toBe("added");
    expect(await balance()).toBe(above2to53 - 1n);
    expect(await ledger().entries("acct_1")).toEqual([credit, withdrawal]);
    expect(await ledger().entries("acct_2")).toEqual([]);
    expect(await ledger().leases()).toEqual([
      { accountId: "acct_1", granted: above2to53 - 1n, spent: 0n },
      { accountId: "acct_2", granted: 0n, spent: 0n },
    ]);
  });

  test("the same reference again is the same entry, and with another amount or kind is told apart", async () => {
    const credit = entryOf({ reference: "invoice 7" });
    await ledger().addEntry(credit, auditOf());
    const before = await opened().store.feed.latest();
    const again = entryOf({ reference: "invoice 7", note: "retried" });
    expect(await ledger().addEntry(again, auditOf())).toEqual({ result: "known", entry: credit });
    for (const rest of [{ nano: 101n }, { kind: "refund" as const }])
      expect(
        await ledger().addEntry(entryOf({ reference: "invoice 7", ...rest }), auditOf()),
      ).toEqual({
        result: "other",
        entry: credit,
      });
    expect(await balance()).toBe(100n);
    expect(await opened().store.feed.latest()).toBe(before);
    const elsewhere = entryOf({ reference: "invoice 7", accountId: "acct_2" });
    expect((await ledger().addEntry(elsewhere, auditOf())).result).toBe("added");
  });

  test("nobody withdraws what is not there, what was spent included", async () => {
    await ledger().addEntry(entryOf({ nano: 100n }), auditOf());
    const sums = await startSums(ledger());
    await ledger().commit([write(receiptOf({ charged: 30n, cost: 30n }))]);
    await sums.flush(noonMs);
    const withdrawal = (nano: bigint) => entryOf({ kind: "withdrawal", nano });
    expect(await ledger().addEntry(withdrawal(-71n), auditOf())).toEqual({
      result: "short",
      balance: 70n,
    });
    expect(await ledger().entries("acct_1")).toHaveLength(1);
    expect((await ledger().addEntry(withdrawal(-70n), auditOf())).result).toBe("added");
    expect(await balance()).toBe(0n);
  });

  test("no account is given more than 64 bits can count", async () => {
    expect((await ledger().addEntry(entryOf({ nano: maxBalance }), auditOf())).result).toBe(
      "added",
    );
    expect(await ledger().addEntry(entryOf({ nano: 1n }), auditOf())).toEqual({
      result: "too-much",
      balance: maxBalance,
    });
    expect(await balance()).toBe(maxBalance);
    await expect(ledger().addEntry(entryOf({ accountId: "acct_9" }), auditOf())).rejects.toThrow();
  });
}

function commitTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;
  const spent = async (id = "acct_1") => (await ledger().lease(id))?.spent;

  test("a batch charges each account what its receipts say, to the last digit", async () => {
    for (const accountId of ["acct_1", "acct_2"])
      await ledger().addEntry(entryOf({ accountId, nano: 3n * above2to53 }), auditOf());
    const sums = await startSums(ledger());
    await ledger().commit([
      write(receiptOf({ charged: above2to53, cost: above2to53 })),
      write(receiptOf({ accountId: "acct_2", keyId: "key_2", charged: 7n })),
      write(receiptOf({ charged: 2n })),
      write(receiptOf({ charged: 0n })),
    ]);
    await sums.flush(noonMs);
    expect(await spent()).toBe(above2to53 + 2n);
    expect(await spent("acct_2")).toBe(7n);
    await ledger().commit([write(receiptOf({ charged: above2to53, cost: above2to53 }))]);
    await sums.flush(noonMs, true);
    expect(await spent()).toBe(2n * above2to53 + 2n);
  });

  test("the same batch twice charges once, and of a larger one only what is new", async () => {
    await ledger().addEntry(entryOf({ nano: 1_000n }), auditOf());
    const budgets = [{ ownerId: "key_1", periodStartMs: 0 }];
    const [one, two, three] = [receiptOf(), receiptOf(), receiptOf()];
    const sums = await startSums(ledger());
    const commit = (...receipts: Receipt[]) =>
      ledger().commit(receipts.map((receipt) => write(receipt, budgets)));
    await commit(one, two);
    await commit(one, two);
    await sums.flush(noonMs);
    expect(await spent()).toBe(20n);
    await commit(one, three, one, three);
    await sums.flush(noonMs);
    expect(await spent()).toBe(30n);
    expect(await ledger().budgetSpends(0)).toEqual([
      { ownerId: "key_1", periodStartMs: 0, spent: 30n },
    ]);
  });

  test("who watches is told every receipt once, in its order, as soon as it stands", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    const told: Receipt[] = [];
    ledger().watch((receipt) => told.push(receipt));
    const [one, two, three] = [receiptOf(), receiptOf(), receiptOf()];
    const first = ledger().commit([write(one), { type: "claim", claim: claimOf() }, write(two)]);
    if (opened().database.traits.commitsInTurn) expect(told).toEqual([one, two]);
    await first;
    expect(told).toEqual([one, two]);
    await ledger().commit([write(two), write(three), write(one), write(three)]);
    await ledger().commit([]);
    expect(told).toEqual([one, two, three]);
  });

  test("nobody is told of a batch that did not come to stand, not even later", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    const told: Receipt[] = [];
    ledger().watch((receipt) => told.push(receipt));
    const [refused, fine] = [receiptOf(), receiptOf()];
    await expect(ledger().commit([write(refused), unwritable()])).rejects.toThrow();
    await ledger().commit([]);
    await ledger().commit([write(fine)]);
    expect(told).toEqual([fine]);
    await ledger().commit([write(refused)]);
    expect(told).toEqual([fine, refused]);
  });

  budgetTests(opened);
}

function budgetTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;

  test("what a receipt is charged counts for each of its budgets, in its period", async () => {
    await ledger().addEntry(entryOf({ nano: 3n * above2to53 }), auditOf());
    const today = { ownerId: "key_1", periodStartMs: noonMs };
    const tomorrow = { ownerId: "key_1", periodStartMs: noonMs + 1 };
    const whole = { ownerId: "acct_1", periodStartMs: 0 };
    await ledger().commit([
      write(receiptOf({ charged: above2to53 }), [today, whole]),
      write(receiptOf({ charged: 1n }), [tomorrow, whole]),
      write(receiptOf({ charged: 0n }), [{ ownerId: "key_2", periodStartMs: 0 }]),
    ]);
    await ledger().commit([write(receiptOf({ charged: 2n }), [tomorrow])]);
    const sorted = (await ledger().budgetSpends(0)).toSorted((one, other) =>
      one.spent < other.spent ? -1 : 1,
    );
    expect(sorted).toEqual([
      { ...tomorrow, spent: 3n },
      { ...today, spent: above2to53 },
      { ...whole, spent: above2to53 + 1n },
    ]);
  });

  test("what budgets used is read from a moment on, and always where they have no periods", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    const spends = [
      { ownerId: "key_1", periodStartMs: 0, spent: 1n },
      { ownerId: "key_1", periodStartMs: noonMs - 1, spent: 2n },
      { ownerId: "key_1", periodStartMs: noonMs, spent: 3n },
      { ownerId: "key_2", periodStartMs: noonMs + 1, spent: 4n },
    ];
    for (const { spent, ...budget } of spends)
      await ledger().commit([write(receiptOf({ charged: spent }), [budget])]);
    const from = async (ms: number) =>
      (await ledger().budgetSpends(ms)).map(({ spent }) => spent).toSorted();
    expect(await from(0)).toEqual([1n, 2n, 3n, 4n]);
    expect(await from(noonMs)).toEqual([1n, 3n, 4n]);
    expect(await from(noonMs + 2)).toEqual([1n]);
  });
}

function attemptTests(opened: () => Opened): void {
  test("the attempts of a receipt are read as they were written", async () => {
    const served = { provider: "p", model: "a, b/c d", startedMs: 2, durationMs: 10 };
    const failed = {
      provider: "q",
      model: "m",
      code: "upstream_error",
      status: 500,
      detail: 'returned 500, oddly ("x")',
      startedMs: 0,
      durationMs: 2,
    };
    const lists: readonly (readonly ReceiptAttempt[])[] = [
      [],
      [served],
      // Of another provider, or shorter, than the receipt.
      [{ ...served, provider: "q" }],
      [{ ...served, durationMs: 9 }],
      [failed],
      [failed, { ...failed, status: undefined, startedMs: 5 }, served],
      // From before times were recorded.
      [{ provider: "p", model: "m" }],
      [{ provider: "", model: "", code: "upstream_unavailable", detail: "no route leads on" }],
    ];
    const receipts = lists.map((attempts) => receiptOf({ attempts, charged: 0n }));
    await opened().store.ledger.commit(receipts.map((receipt) => write(receipt)));
    const reader = await opened().database.openReader();
    for (const receipt of receipts) expect(await reader.receipt(receipt.id)).toEqual(receipt);
    await reader.close();
  });
}

function refusalTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;

  test("nothing of a batch stands when one of its writes can never be written", async () => {
    await ledger().addEntry(entryOf({ nano: 100n }), auditOf());
    const sums = await startSums(ledger());
    const fine = write(receiptOf(), [{ ownerId: "key_1", periodStartMs: 0 }]);
    const claim: LedgerWrite = { type: "claim", claim: claimOf() };
    const refused = await ledger()
      .commit([fine, claim, unwritable()])
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnwritableError);
    await sums.flush(noonMs);
    expect(await ledger().lease("acct_1")).toMatchObject({ granted: 100n, spent: 0n });
    expect(await ledger().budgetSpends(0)).toEqual([]);
    expect(await ledger().findClaim("claim_1")).toBeUndefined();
    const reader = await opened().database.openReader();
    expect(await Array.fromAsync(reader.receipts({}))).toEqual([]);
    await reader.close();
    await ledger().commit([fine]);
    await sums.flush(noonMs);
    expect(await ledger().lease("acct_1")).toMatchObject({ spent: 10n });
  });

  test("an account can be spent to nothing, and not below: such a charge is refused whole", async () => {
    for (const accountId of ["acct_1", "acct_2"])
      await ledger().addEntry(entryOf({ accountId, nano: 100n }), auditOf());
    const { chargedBy } = opened().database.traits;
    await (chargedBy === "sums" ? refuseSums(opened()) : refuseReceipts(opened()));
    expect(await ledger().leases()).toEqual([
      { accountId: "acct_1", granted: 100n, spent: 100n },
      { accountId: "acct_2", granted: 100n, spent: 0n },
    ]);
  });

  test("a call that is in no sum yet is found in the receipts", async () => {
    const { ledger: written, catalog } = opened().store;
    await written.rollups.add([], toHour(noonMs));
    await written.commit([write(receiptOf({ model: "called", charged: 0n }))]);
    expect(await catalog.hasCalls("called", true)).toBe(false);
    expect(await catalog.hasCalls("called", false)).toBe(true);
    expect(await catalog.hasCalls("other", false)).toBe(false);
  });

  test("an empty batch asks whether the database can be written, and changes nothing", async () => {
    const before = await opened().store.feed.latest();
    await ledger().commit([]);
    expect(await opened().store.feed.latest()).toBe(before);
  });

  test("commits and other writes that come at the same moment do not hinder each other", async () => {
    await ledger().addEntry(entryOf({ nano: 1_000n }), auditOf());
    const sums = await startSums(ledger());
    const work = Array.from({ length: 12 }, (_, at) => [
      ledger().addEntry(entryOf({ nano: 1n }), auditOf()),
      Promise.resolve().then(() => ledger().commit([write(receiptOf())])),
      setLimits(ledger(), { limits: { rpm: at + 1 } }),
      sums.flush(noonMs),
    ]);
    await Promise.all(work.flat());
    await sums.flush(noonMs);
    expect(await ledger().lease("acct_1")).toMatchObject({ granted: 1_012n, spent: 120n });
    expect(await opened().store.accounts.find("acct_1")).toMatchObject({ limitsVersion: 12 });
  });
}

async function refuseSums({ store }: Opened): Promise<void> {
  const { rollups } = store.ledger;
  const of = (accountId: string, charged: bigint) => ({
    ...emptyRollup({ hourMs: noonMs, accountId, keyId: "k", model: "m", provider: "p" }),
    charged,
  });
  await rollups.add([of("acct_1", 60n), { ...of("acct_1", 40n), keyId: "other" }], noonMs);
  const before = await rollups.list({});
  await expect(rollups.add([of("acct_2", 1n), of("acct_1", 1n)], undefined)).rejects.toThrow();
  expect(await rollups.list({})).toEqual(before);
  expect(await rollups.openFromMs()).toBe(noonMs);
}

async function refuseReceipts({ store, database }: Opened): Promise<void> {
  const of = (accountId: string, charged: bigint) => receiptOf({ accountId, charged });
  const fine = [of("acct_1", 60n), of("acct_1", 40n)];
  await store.ledger.commit(fine.map((receipt) => write(receipt)));
  const budgets = [{ ownerId: "acct_2", periodStartMs: 0 }];
  const refused = [write(of("acct_2", 1n), budgets), write(of("acct_1", 1n))];
  await expect(store.ledger.commit(refused)).rejects.toBeInstanceOf(UnwritableError);
  expect(await store.ledger.budgetSpends(0)).toEqual([]);
  const reader = await database.openReader();
  expect(await Array.fromAsync(reader.receipts({ oldestFirst: true }))).toEqual(fine);
  await reader.close();
}
