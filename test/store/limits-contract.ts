import { expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import type { Limits } from "../../src/call/limits.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import type { BudgetSpend, LimitsOwner } from "../../src/ledger/store.ts";
import { auditOf } from "./audit-sample.ts";
import type { Opened } from "./ledger-samples.ts";
import {
  above2to53,
  entryOf,
  noonMs,
  receiptOf,
  setLimits,
  startSums,
  write,
} from "./ledger-samples.ts";

const dayMs = 24 * hourMs;
const todayMs = noonMs - dayMs / 2;
const monthMs = Date.UTC(2027, 0, 1);
const account: LimitsOwner = { accountId: "acct_1", keyId: undefined };
const key: LimitsOwner = { accountId: "acct_1", keyId: "key_1" };
const budget = (period: "day" | "month" | "total"): Limits => ({ budget: { nano: 1n, period } });

/** Limits change together with their version and with what their budget has used. */
export function limitTests(opened: () => Opened): void {
  changeTests(opened);
  budgetStartTests(opened);
}

function changeTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;

  test("limits of an account or a key are changed alone, announced, and numbered", async () => {
    const { accounts, keys, feed } = opened().store;
    const record = { id: "key_1", accountId: "acct_1", name: "k", hash: "h", hint: "i" };
    await keys.insert({ ...record, createdAtMs: 2, limits: { rpm: 7 } }, auditOf());
    await keys.insert({ ...record, id: "key_2", hash: "h2", createdAtMs: 2 }, auditOf());
    const before = await feed.latest();
    const limits: Limits = { tpm: 2, concurrency: 3, budget: { nano: above2to53, period: "day" } };
    const version = (await setLimits(ledger(), { owner: key, limits }))?.version ?? 0;
    expect(version).toBeGreaterThan(1);
    expect((await setLimits(ledger(), { owner: account, limits: { rpm: 1 } }))?.version).toBe(1);
    expect(await keys.get("key_1")).toMatchObject({ limits, limitsVersion: version });
    expect(await keys.get("key_2")).toEqual({ ...record, id: "key_2", hash: "h2", createdAtMs: 2 });
    expect(await accounts.find("acct_1")).toMatchObject({ limits: { rpm: 1 }, limitsVersion: 1 });
    const told = await feed.since(before);
    expect(told?.map(({ topic, subject }) => `${topic}:${subject}`)).toEqual([
      "keys:key_1",
      "accounts:acct_1",
    ]);
    await setLimits(ledger(), { owner: key, limits: undefined, nowMs: () => noonMs + 1 });
    expect(await keys.get("key_1")).toEqual({
      ...record,
      createdAtMs: 2,
      limitsVersion: version + 1,
    });
    const reader = await opened().database.openReader();
    const all = await reader.limits();
    // A store may number one in which the budget is not ready yet.
    expect(all.filter((one) => one.limits?.budget?.nano !== 0n)).toEqual([
      { ownerId: "acct_1", version: 1, effectiveAtMs: noonMs, limits: { rpm: 1 } },
      { ownerId: "key_1", version: 1, effectiveAtMs: 2, limits: { rpm: 7 } },
      { ownerId: "key_1", version, effectiveAtMs: noonMs, limits },
      { ownerId: "key_1", version: version + 1, effectiveAtMs: noonMs + 1, limits: undefined },
    ]);
    await reader.close();
    await expect(setLimits(ledger(), { owner: { ...key, keyId: "key_9" } })).rejects.toThrow();
  });

  test("a receipt that is written while a budget is set counts for it once", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    const told: string[] = [];
    ledger().watch(({ id }) => told.push(id));
    const receipt = receiptOf();
    const budgets: BudgetSpend[] = [];
    const set = setLimits(ledger(), {
      limits: budget("day"),
      onSet({ spends }) {
        told.push("limits");
        budgets.push(...spends.filter(({ periodStartMs }) => periodStartMs === todayMs));
      },
    });
    const committed = ledger().commit([write(receipt, budgets)]);
    await Promise.all([set, committed]);
    expect(await ledger().budgetSpends(0)).toEqual([
      { ownerId: "acct_1", periodStartMs: todayMs, spent: receipt.charged },
    ]);
    expect(told.toSorted()).toEqual(["limits", receipt.id]);
    // Where a change takes one turn, what follows it comes before any other receipt.
    if (opened().database.traits.commitsInTurn) expect(told).toEqual(["limits", receipt.id]);
  });

  test("a budget that nothing was spent of leaves no row, and what was there is replaced", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    await ledger().commit([
      write(receiptOf({ id: newId("req", todayMs - 2 * dayMs) }), [
        { ownerId: "acct_1", periodStartMs: todayMs },
      ]),
    ]);
    await setLimits(ledger(), { limits: budget("day") });
    expect(await ledger().budgetSpends(0)).toEqual([]);
  });
}

function budgetStartTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;

  test("a budget starts with the receipts of its period, wherever their sums are", async () => {
    await ledger().addEntry(entryOf({ nano: 3n * above2to53 }), auditOf());
    const sums = await startSums(ledger(), monthMs);
    const spend = (ms: number, keyId: string, charged: bigint) =>
      ledger().commit([write(receiptOf({ id: newId("req", ms), keyId, charged, cost: charged }))]);
    await spend(monthMs - 1, "key_1", 1n);
    await spend(monthMs, "key_1", 20n);
    await spend(todayMs - 1, "key_1", 300n);
    await spend(todayMs - dayMs, "key_2", 4_000n);
    await spend(todayMs, "key_1", 50_000n);
    await spend(noonMs, "key_1", above2to53);
    await spend(noonMs, "key_2", 700_000n);
    const expected = {
      day: [above2to53 + 750_000n, 4_300n],
      month: [above2to53 + 754_320n, 1n],
      total: [above2to53 + 754_321n],
    };
    const ofKey = {
      day: [above2to53 + 50_000n, 300n],
      month: [above2to53 + 50_320n, 1n],
      total: [above2to53 + 50_321n],
    };
    const check = async () => {
      for (const period of ["day", "month", "total"] as const)
        for (const [owner, spent] of [
          [account, expected],
          [key, ofKey],
        ] as const) {
          const limits = budget(period);
          const set = await sums.betweenWrites((unwritten) =>
            setLimits(ledger(), { owner, limits, unwritten }),
          );
          expect(set?.spends.map((one) => one.spent)).toEqual(spent[period]);
          const ownerId = owner.keyId ?? owner.accountId;
          const rows = await ledger().budgetSpends(0);
          for (const one of set?.spends ?? []) expect(rows).toContainEqual({ ...one, ownerId });
        }
    };
    const record = { id: "key_1", accountId: "acct_1", name: "k", hash: "h", hint: "i" };
    await opened().store.keys.insert({ ...record, createdAtMs: 2 }, auditOf());
    await check();
    await sums.write(noonMs);
    await check();
    await spend(todayMs + hourMs, "key_3", 0n);
    await sums.flush(noonMs + hourMs);
    await check();
    await sums.flush(noonMs + 9 * hourMs);
    await check();
  });
}
