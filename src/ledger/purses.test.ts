import { describe, expect, test } from "bun:test";
import type { BudgetLimit } from "../call/limits.ts";
import type { Account } from "./account.ts";
import { Hold } from "./purse.ts";
import { Purses } from "./purses.ts";
import type { BudgetSpend, Lease } from "./store.ts";

const dayMs = 86_400_000;
const firstMs = Date.UTC(2027, 0, 1);
const noonMs = firstMs + dayMs / 2;
const account: Account = { id: "acct_1", name: "default", createdAtMs: 1 };

/** A store whose content a test can change. */
function ledgerOf(spends: readonly BudgetSpend[] = []) {
  const accounts: Account[] = [account];
  const leases: Lease[] = [{ accountId: "acct_1", granted: 100n, spent: 30n }];
  const absent = () => Promise.reject(new Error("not here"));
  const purses = new Purses(
    {
      list: async () => accounts,
      find: async (id) => accounts.find((one) => one.id === id),
      insert: absent,
      update: absent,
    },
    {
      leases: async () => leases,
      lease: async (id) => leases.find((one) => one.accountId === id),
      budgetSpends: async (fromMs) =>
        spends.filter(({ periodStartMs: at }) => at >= fromMs || at === 0),
      setBudgetSpend: absent,
      addEntry: absent,
      entries: absent,
      commit: absent,
      watch: () => {},
      findClaim: absent,
      recentCounts: async () => [],
      releaseRunningClaims: absent,
      eraseClaims: absent,
      rollups: { add: absent, list: absent, openFromMs: absent, recount: absent, fold: absent },
    },
  );
  return { purses, accounts, leases };
}

const daily = (nano: bigint): BudgetLimit => ({ nano, period: "day" });

test("a purse has what the store says at the start, and later follows only money in and out", async () => {
  const { purses, accounts, leases } = ledgerOf();
  await purses.start();
  const purse = purses.find("acct_1");
  expect(purse?.pot.free).toBe(70n);
  if (purse === undefined) throw new Error("it is there");
  const hold = Hold.take(50n, purse.pot, []);
  hold?.settle(40n);
  Hold.take(5n, purse.pot, []);
  leases[0] = { accountId: "acct_1", granted: 200n, spent: 30n };
  accounts[0] = { ...account, suspendedAtMs: 5 };
  await purses.reload("acct_1");
  expect(purses.find("acct_1")).toBe(purse);
  expect(purse.account.suspendedAtMs).toBe(5);
  expect([purse.pot.limit, purse.pot.spent, purse.pot.held]).toEqual([200n, 70n, 5n]);
});

test("an account that is new comes with its reload, and one without a lease has nothing", async () => {
  const { purses, accounts, leases } = ledgerOf();
  await purses.start();
  accounts.push({ id: "acct_2", name: "b", createdAtMs: 1 });
  accounts.push({ id: "acct_3", name: "c", createdAtMs: 1 });
  leases.push({ accountId: "acct_2", granted: 9n, spent: 2n });
  await purses.reload("acct_2");
  expect(purses.find("acct_2")?.pot.free).toBe(7n);
  expect(purses.find("acct_3")).toBeUndefined();
  await purses.reload("acct_9");
  await purses.reloadAll();
  expect(purses.find("acct_3")?.pot.free).toBe(0n);
  expect([...purses.all].map(({ account: { id } }) => id)).toEqual(["acct_1", "acct_2", "acct_3"]);
});

describe("a budget", () => {
  test("begins with what its period had used up before, once", async () => {
    const { purses } = ledgerOf([
      { ownerId: "key_1", periodStartMs: firstMs - dayMs, spent: 99n },
      { ownerId: "key_1", periodStartMs: firstMs, spent: 7n },
      { ownerId: "key_2", periodStartMs: firstMs - dayMs, spent: 99n },
    ]);
    await purses.start();
    const limit = daily(10n);
    const pot = purses.budgetOf("key_1", limit, noonMs);
    expect([pot.free, pot.periodStartMs]).toEqual([3n, firstMs]);
    expect(purses.budgetOf("key_1", limit, firstMs + dayMs - 1)).toBe(pot);
    expect(purses.budgetOf("key_2", daily(10n), noonMs).free).toBe(10n);
  });

  test("that began long before the process knows what it used, and calls from its end on", async () => {
    const [monthMs, lastMonthMs] = [Date.UTC(2027, 1, 1), firstMs];
    const spends = [
      { ownerId: "key_1", periodStartMs: 0, spent: 1n },
      { ownerId: "key_2", periodStartMs: monthMs, spent: 2n },
      { ownerId: "key_3", periodStartMs: lastMonthMs, spent: 3n },
    ];
    const spentOf = async (startMs: number, atMs: number) => {
      const { purses } = ledgerOf(spends);
      await purses.start(startMs);
      const of = (ownerId: string, period: "total" | "month") =>
        purses.budgetOf(ownerId, { nano: 10n, period }, atMs).spent;
      return [of("key_1", "total"), of("key_2", "month"), of("key_3", "month")];
    };
    expect(await spentOf(monthMs + 20 * dayMs, monthMs + 20 * dayMs)).toEqual([1n, 2n, 0n]);
    // A call of the last month may end in the first hours of this one.
    expect(await spentOf(monthMs + 1, monthMs - 1)).toEqual([1n, 0n, 3n]);
  });

  test("begins anew with each period", async () => {
    const { purses } = ledgerOf([{ ownerId: "key_1", periodStartMs: firstMs, spent: 7n }]);
    await purses.start();
    const limit = daily(10n);
    purses.budgetOf("key_1", limit, noonMs).spent = 9n;
    const next = purses.budgetOf("key_1", limit, firstMs + dayMs);
    expect([next.free, next.periodStartMs]).toEqual([10n, firstMs + dayMs]);
  });

  test("of the period before is still there for calls that came at its end", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    const limit = daily(10n);
    const first = purses.budgetOf("key_1", limit, noonMs);
    first.spent = 8n;
    const second = purses.budgetOf("key_1", limit, firstMs + dayMs);
    second.spent = 1n;
    expect(purses.budgetOf("key_1", limit, firstMs + dayMs - 1)).toBe(first);
    expect(purses.budgetOf("key_1", limit, firstMs + dayMs)).toBe(second);
    const unused = purses.budgetOf("key_2", limit, firstMs + dayMs);
    const before = purses.budgetOf("key_2", limit, noonMs);
    expect(before.periodStartMs).toBe(firstMs);
    expect(purses.budgetOf("key_2", limit, noonMs)).toBe(before);
    expect(purses.budgetOf("key_2", limit, firstMs + dayMs)).toBe(unused);
    purses.budgetOf("key_2", limit, firstMs + 2 * dayMs);
    expect(purses.budgetOf("key_2", limit, firstMs + dayMs)).toBe(unused);
  });

  test("of another sum keeps what was spent and is held in its period", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    const pot = purses.budgetOf("key_1", daily(10n), noonMs);
    pot.spent = 4n;
    pot.held = 3n;
    const raised = purses.budgetOf("key_1", daily(20n), noonMs);
    expect(raised).toBe(pot);
    expect(raised.free).toBe(13n);
  });

  test("of a day, of a month before, ends with the day also at the first of a month", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    purses.budgetOf("key_1", { nano: 10n, period: "month" }, noonMs).spent = 4n;
    const limit = daily(10n);
    expect(purses.budgetOf("key_1", limit, noonMs).free).toBe(6n);
    const next = purses.budgetOf("key_1", limit, noonMs + dayMs);
    expect([next.free, next.periodStartMs]).toEqual([10n, firstMs + dayMs]);
  });

  test("that is given later starts from what was spent before", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    purses.budgetOf("key_1", daily(10n), noonMs).spent = 4n;
    purses.setBudgetSpent("key_1", 0, 25n);
    expect(purses.budgetOf("key_1", { nano: 30n, period: "total" }, noonMs).free).toBe(5n);
  });

  test("that is given again forgets nothing that it knows better than the store", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    const pot = purses.budgetOf("key_1", daily(10n), noonMs);
    pot.spent = 4n;
    pot.held = 1n;
    purses.setBudgetSpent("key_1", firstMs, 3n);
    expect(purses.budgetOf("key_1", daily(10n), noonMs).free).toBe(5n);
    purses.setBudgetSpent("key_1", firstMs, 6n);
    expect(purses.budgetOf("key_1", daily(10n), noonMs).free).toBe(3n);
  });

  test("of the account and of the key both count for a call", async () => {
    const { purses, accounts } = ledgerOf();
    await purses.start();
    const purse = purses.find("acct_1");
    if (purse === undefined) throw new Error("it is there");
    const ask = (keyBudget: BudgetLimit | undefined) =>
      purses
        .budgetsOf({ purse, keyId: "key_1", keyBudget, nowMs: noonMs })
        .map(({ ownerId, limit }) => [ownerId, limit]);
    expect(ask(undefined)).toEqual([]);
    expect(ask(daily(5n))).toEqual([["key_1", 5n]]);
    accounts[0] = { ...account, limits: { budget: { nano: 9n, period: "month" } } };
    await purses.reload("acct_1");
    expect(ask(undefined)).toEqual([["acct_1", 9n]]);
    expect(ask(daily(5n))).toEqual([
      ["acct_1", 9n],
      ["key_1", 5n],
    ]);
  });
});

test("a period before the last one has nothing left: what was spent in it is not known any more", async () => {
  const { purses } = ledgerOf();
  await purses.start();
  const limit = daily(100n);
  for (const day of [10, 11]) purses.budgetOf("key_1", limit, firstMs + day * dayMs).spent = 50n;
  const freeOn = (day: number) => purses.budgetOf("key_1", limit, firstMs + day * dayMs).free;
  expect([freeOn(11), freeOn(10), freeOn(9), freeOn(11)]).toEqual([50n, 50n, 0n, 50n]);
});
