import { describe, expect, test } from "bun:test";
import type { BudgetLimit } from "../call/limits.ts";
import type { Account } from "./account.ts";
import { type BudgetPot, Hold } from "./purse.ts";
import { Purses, type RecordedLimits } from "./purses.ts";
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
      pages: async function* () {
        yield accounts;
      },
      getMany: async (ids) => accounts.filter(({ id }) => ids.includes(id)),
      find: async (id) => accounts.find((one) => one.id === id),
      search: absent,
      insert: absent,
      setSuspended: absent,
      setReceiptsDays: absent,
    },
    {
      leases: async () => leases,
      lease: async (id) => leases.find((one) => one.accountId === id),
      budgetSpends: async (fromMs) =>
        spends.filter(({ periodStartMs: at }) => at >= fromMs || at === 0),
      setLimits: absent,
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

const limited = (budget: BudgetLimit): RecordedLimits => ({ limits: { budget } });
const daily = (nano: bigint) => limited({ nano, period: "day" });

/** The pot of a budget that there must be. */
function potOf(purses: Purses, ownerId: string, record: RecordedLimits, nowMs: number): BudgetPot {
  const pot = purses.budgetOf(ownerId, record, nowMs);
  if (pot === undefined) throw new Error("there is no budget");
  return pot;
}

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
  await purses.reload(["acct_1"]);
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
  await purses.reload(["acct_2"]);
  expect(purses.find("acct_2")?.pot.free).toBe(7n);
  expect(purses.find("acct_3")).toBeUndefined();
  await purses.reload(["acct_9"]);
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
    const pot = potOf(purses, "key_1", limit, noonMs);
    expect([pot.free, pot.periodStartMs]).toEqual([3n, firstMs]);
    expect(potOf(purses, "key_1", limit, firstMs + dayMs - 1)).toBe(pot);
    expect(potOf(purses, "key_2", daily(10n), noonMs).free).toBe(10n);
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
        potOf(purses, ownerId, limited({ nano: 10n, period }), atMs).spent;
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
    potOf(purses, "key_1", limit, noonMs).spent = 9n;
    const next = potOf(purses, "key_1", limit, firstMs + dayMs);
    expect([next.free, next.periodStartMs]).toEqual([10n, firstMs + dayMs]);
  });

  test("of the period before is still there for calls that came at its end", async () => {
    const { purses } = ledgerOf();
    await purses.start();
    const limit = daily(10n);
    const first = potOf(purses, "key_1", limit, noonMs);
    first.spent = 8n;
    const second = potOf(purses, "key_1", limit, firstMs + dayMs);
    second.spent = 1n;
    expect(potOf(purses, "key_1", limit, firstMs + dayMs - 1)).toBe(first);
    expect(potOf(purses, "key_1", limit, firstMs + dayMs)).toBe(second);
    const unused = potOf(purses, "key_2", limit, firstMs + dayMs);
    const before = potOf(purses, "key_2", limit, noonMs);
    expect(before.periodStartMs).toBe(firstMs);
    expect(potOf(purses, "key_2", limit, noonMs)).toBe(before);
    expect(potOf(purses, "key_2", limit, firstMs + dayMs)).toBe(unused);
    potOf(purses, "key_2", limit, firstMs + 2 * dayMs);
    expect(potOf(purses, "key_2", limit, firstMs + dayMs)).toBe(unused);
  });

  test("of the account and of the key both count for a call", async () => {
    const { purses, accounts } = ledgerOf();
    await purses.start();
    const purse = purses.find("acct_1");
    if (purse === undefined) throw new Error("it is there");
    const ask = (id: string, record: RecordedLimits) =>
      purses
        .budgetsOf({ purse, key: { ...record, id }, nowMs: noonMs })
        .map(({ ownerId, limit }) => [ownerId, limit]);
    expect(ask("key_1", {})).toEqual([]);
    expect(ask("key_2", daily(5n))).toEqual([["key_2", 5n]]);
    accounts[0] = { ...account, limits: { budget: { nano: 9n, period: "month" } } };
    await purses.reload(["acct_1"]);
    expect(ask("key_1", {})).toEqual([["acct_1", 9n]]);
    expect(ask("key_2", daily(5n))).toEqual([
      ["acct_1", 9n],
      ["key_2", 5n],
    ]);
  });
});

test("a period before the last one has nothing left: what was spent in it is not known any more", async () => {
  const { purses } = ledgerOf();
  await purses.start();
  const limit = daily(100n);
  for (const day of [10, 11]) potOf(purses, "key_1", limit, firstMs + day * dayMs).spent = 50n;
  const freeOn = (day: number) => potOf(purses, "key_1", limit, firstMs + day * dayMs).free;
  expect([freeOn(11), freeOn(10), freeOn(9), freeOn(11)]).toEqual([50n, 50n, 0n, 50n]);
});

describe("a budget that is set", () => {
  const start = async () => {
    const { purses, leases } = ledgerOf();
    leases[0] = { accountId: "acct_1", granted: 1_000n, spent: 0n };
    await purses.start();
    const purse = purses.find("acct_1");
    if (purse === undefined) throw new Error("it is there");
    const take = (id: string, nano: bigint, rest: { keyId?: string; startedMs?: number } = {}) => {
      const { keyId = "key_1", startedMs = noonMs } = rest;
      const budgets = purses.budgetsOf({ purse, key: { id: keyId }, nowMs: startedMs });
      const hold = purses.take(nano, { id, keyId, startedMs, purse, budgets });
      if (hold === undefined) throw new Error("it is not covered");
      return hold;
    };
    let version = 0;
    const set = (budget: BudgetLimit | undefined, spent: readonly bigint[], keyId?: string) => {
      const ownerId = keyId ?? "acct_1";
      const starts = budget?.period === "total" ? [0] : [firstMs, firstMs - dayMs];
      version++;
      purses.setBudget({
        owner: { accountId: "acct_1", keyId },
        limit: budget,
        version,
        nowMs: noonMs,
        spends: spent.map((one, at) => ({ ownerId, periodStartMs: starts[at] ?? 0, spent: one })),
      });
      return purses.budgetOf(ownerId, {}, noonMs);
    };
    return { purses, take, set };
  };
  const budget: BudgetLimit = { nano: 100n, period: "day" };

  test("counts calls that run, and those that are settled and not yet written", async () => {
    const { take, set, purses } = await start();
    const [open, settled] = [take("req_1", 10n), take("req_2", 20n)];
    settled.settle(15n);
    take("req_3", 40n).settle(40n);
    purses.committed("req_3");
    const pot = set(budget, [40n, 0n]);
    expect(pot).toMatchObject({ held: 10n, spent: 55n, free: 35n });
    open.settle(7n);
    expect(pot).toMatchObject({ held: 0n, spent: 62n });
    settled.giveBack();
    expect(pot).toMatchObject({ held: 0n, spent: 47n });
    expect(purses.uncommitted).toBe(1);
    purses.committed("req_1");
    expect(purses.uncommitted).toBe(0);
  });

  test("counts calls of its own period and of its own key alone", async () => {
    const { take, set, purses } = await start();
    take("req_1", 1n);
    take("req_2", 20n, { keyId: "key_2" });
    take("req_3", 300n, { startedMs: firstMs - 1 });
    const pot = set(budget, [0n, 5n], "key_1");
    expect(pot).toMatchObject({ held: 1n, spent: 0n });
    expect(purses.budgetOf("key_1", {}, firstMs - 1)).toMatchObject({ held: 300n, spent: 5n });
    expect(purses.budgetOf("key_2", {}, noonMs)).toBeUndefined();
  });

  test("takes the place of the one before it: a call counts once", async () => {
    const { take, set } = await start();
    const call = take("req_1", 10n);
    set(budget, [0n, 0n]);
    set(undefined, []);
    expect(call.budgets).toEqual([]);
    const total = set({ nano: 9n, period: "total" }, [3n]);
    const pot = set(budget, [1n, 0n]);
    expect(call.budgets).toEqual([pot as BudgetPot]);
    call.settle(4n);
    expect(pot).toMatchObject({ held: 0n, spent: 5n });
    expect(total?.spent).toBe(3n);
  });

  test("counts whatever a record that is a moment behind says, and gives its version", async () => {
    const { set, purses } = await start();
    const before = limited({ nano: 7n, period: "total" });
    expect(purses.limitsVersionOf("key_1", { ...before, limitsVersion: 4 })).toBe(4);
    const pot = set(budget, [1n, 0n], "key_1");
    expect(purses.budgetOf("key_1", before, noonMs)).toBe(pot as BudgetPot);
    expect(purses.limitsVersionOf("key_1", { ...before, limitsVersion: 4 })).toBe(1);
    set(undefined, [], "key_1");
    expect(purses.budgetOf("key_1", before, noonMs)).toBeUndefined();
  });
});
