import { expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import { dialects } from "../../src/call/dialect.ts";
import { auditOf } from "./audit-sample.ts";
import type { Opened } from "./ledger-samples.ts";
import { above2to53, entryOf, noonMs, receiptOf, sumUp, write } from "./ledger-samples.ts";

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
    const reader = await database.openReader();
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
    const later = await database.openReader();
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
    const spoken = dialects.map((dialect) => ({
      ...receiptOf({ charged: 0n, isStreamed: true, dialect }),
    }));
    await store.ledger.commit([full, ...spoken].map((receipt) => write(receipt)));
    const reader = await database.openReader();
    expect(await reader.receipt(full.id)).toEqual(full);
    for (const receipt of spoken) expect(await reader.receipt(receipt.id)).toStrictEqual(receipt);
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
      receiptOf({
        id: newId("req", noonMs + 2),
        charged: 0n,
        model: "n",
        dialect: "messages",
        outcome: "left",
      }),
    ];
    await store.ledger.commit([first, second, third].map((receipt) => write(receipt)));
    const reader = await database.openReader();
    const found = async (filter: Parameters<typeof reader.receipts>[0]) =>
      (await Array.fromAsync(reader.receipts(filter))).map(({ id }) => id);
    expect(await found({})).toEqual([third.id, second.id, first.id]);
    expect(await found({ oldestFirst: true })).toEqual([first.id, second.id, third.id]);
    expect(await found({ limit: 1 })).toEqual([third.id]);
    expect(await found({ fromMs: noonMs + 1, toMs: noonMs + 2 })).toEqual([second.id]);
    expect(await found({ accountId: "acct_2" })).toEqual([second.id]);
    expect(await found({ keyId: "key_2" })).toEqual([second.id]);
    expect(await found({ model: "n" })).toEqual([third.id]);
    expect(await found({ dialect: "messages" })).toEqual([third.id]);
    expect(await found({ dialect: "chat" })).toEqual([]);
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
    const reader = await database.openReader();
    expect(await reader.prices()).toEqual([
      { modelId: "m", version: 1, effectiveAtMs: 1, price },
      { modelId: "m", version: 2, effectiveAtMs: 1, price: null },
    ]);
    await reader.close();
  });
}
