import { describe, expect, test } from "bun:test";
import type { BudgetPeriod } from "../call/limits.ts";
import { BudgetPot, Hold, Pot } from "./purse.ts";

const budgetPot = (nano: bigint, spent = 0n, period: BudgetPeriod = "total", nowMs = 0) =>
  new BudgetPot({ ownerId: "key_1", budget: { nano, period }, spent, nowMs });

function take(nano: bigint, account: Pot, budgets: readonly BudgetPot[] = []): Hold {
  const hold = Hold.take(nano, account, budgets);
  if (hold === undefined) throw new Error("it should be covered");
  return hold;
}

describe("a hold", () => {
  test("is taken when every pot covers it to the last nano, and else changes nothing", () => {
    const account = new Pot(100n, 20n);
    const budget = budgetPot(60n, 10n);
    expect(Hold.take(51n, account, [budget])).toBeUndefined();
    expect(Hold.take(81n, account, [])).toBeUndefined();
    expect(Hold.take(-1n, account, [])).toBeUndefined();
    expect([account.held, budget.held]).toEqual([0n, 0n]);
    expect(take(50n, account, [budget]).nano).toBe(50n);
    expect([account.free, budget.free]).toEqual([30n, 0n]);
    expect(take(30n, account).isOpen).toBe(true);
    expect(account.free).toBe(0n);
  });

  test("settled for less gives the rest back", () => {
    const account = new Pot(100n);
    const budget = budgetPot(90n);
    const hold = take(50n, account, [budget]);
    expect(hold.settle(20n)).toBe(20n);
    expect(hold.isOpen).toBe(false);
    expect([account.spent, account.held, account.free]).toEqual([20n, 0n, 80n]);
    expect([budget.spent, budget.held, budget.free]).toEqual([20n, 0n, 70n]);
  });

  test("settled for more takes what was held, and no more", () => {
    const account = new Pot(100n);
    const budget = budgetPot(60n);
    const hold = take(50n, account, [budget]);
    expect(hold.settle(70n)).toBe(50n);
    expect(account.free).toBe(50n);
    expect(budget.free).toBe(10n);
  });

  test("of somebody else is out of reach", () => {
    const account = new Pot(100n);
    const first = take(50n, account);
    const second = take(45n, account);
    expect(first.settle(1_000n)).toBe(50n);
    expect(second.settle(1_000n)).toBe(45n);
    expect(account.spent).toBe(95n);
  });

  test("settled or released twice counts once", () => {
    const account = new Pot(100n);
    const hold = take(50n, account);
    expect(hold.settle(20n)).toBe(20n);
    expect(hold.settle(40n)).toBe(20n);
    hold.release();
    expect([account.spent, account.held]).toEqual([20n, 0n]);
    const other = take(50n, account);
    other.release();
    other.release();
    expect(other.settle(10n)).toBe(0n);
    expect([account.spent, account.held]).toEqual([20n, 0n]);
  });

  test("that was settled can be given back, once", () => {
    const account = new Pot(100n);
    const budget = budgetPot(90n);
    const hold = take(50n, account, [budget]);
    hold.settle(20n);
    hold.giveBack();
    hold.giveBack();
    expect([account.spent, account.held, budget.spent, budget.held]).toEqual([0n, 0n, 0n, 0n]);
    expect(hold.settle(7n)).toBe(0n);
    const open = take(10n, account);
    open.giveBack();
    expect([account.spent, account.held]).toEqual([0n, 10n]);
  });

  test("never takes an account below zero, though money was withdrawn while it was open", () => {
    const account = new Pot(100n);
    const [one, two] = [take(50n, account), take(50n, account)];
    account.limit = 70n;
    expect(Hold.take(1n, account, [])).toBeUndefined();
    expect(one.settle(50n)).toBe(50n);
    expect(two.settle(50n)).toBe(20n);
    expect(account.spent).toBe(70n);
    account.limit = 60n;
    account.limit = 80n;
    const late = take(10n, account);
    account.limit = 60n;
    expect(late.settle(10n)).toBe(0n);
  });

  test("within a budget that was lowered meanwhile still pays what was held for it", () => {
    const account = new Pot(100n);
    const budget = budgetPot(100n);
    const hold = take(50n, account, [budget]);
    budget.limit = 10n;
    expect(hold.settle(60n)).toBe(50n);
  });
});

test("a budget's pot knows the period that its moment lies in", () => {
  const nowMs = Date.UTC(2027, 1, 28, 23, 59, 59, 999);
  const day = budgetPot(1n, 0n, "day", nowMs);
  expect([day.periodStartMs, day.periodEndMs]).toEqual([Date.UTC(2027, 1, 28), nowMs + 1]);
  const month = budgetPot(1n, 0n, "month", nowMs);
  expect([month.periodStartMs, month.periodEndMs]).toEqual([Date.UTC(2027, 1, 1), nowMs + 1]);
  const total = budgetPot(1n, 0n, "total", nowMs);
  expect([total.periodStartMs, total.periodEndMs]).toEqual([0, Number.POSITIVE_INFINITY]);
});

/** Numbers from 0 up to below `end`, the same ones for the same seed. */
function randomOf(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

test.each([1, 7, 2027])(
  "whatever is held and settled, nothing falls below zero (seed %d)",
  (seed) => {
    const random = randomOf(seed);
    const accounts = [new Pot(5_000n), new Pot(50_000n)];
    const budgets = [budgetPot(3_000n), budgetPot(20_000n), budgetPot(9_000n)];
    const open: Hold[] = [];
    let refused = 0;
    let short = 0;
    for (let step = 0; step < 5_000; step++) {
      const at = random(open.length);
      const hold = open[at];
      const action = random(5);
      if (hold === undefined || action < 2) {
        const account = accounts[random(2)] ?? new Pot(0n);
        const taken = Hold.take(
          BigInt(random(400)),
          account,
          budgets.filter(() => random(3) === 0),
        );
        if (taken === undefined) refused++;
        else open.push(taken);
      } else if (action === 2) {
        hold.release();
        open.splice(at, 1);
      } else {
        const cost = BigInt(random(500));
        const charged = hold.settle(cost);
        expect(charged).toBe(cost < hold.nano ? cost : hold.nano);
        if (charged < cost) short++;
        if (random(4) === 0) {
          hold.giveBack();
          hold.giveBack();
        }
        hold.settle(cost + 1n);
        open.splice(at, 1);
      }
      for (const pot of [...accounts, ...budgets]) expect(pot.free >= 0n).toBe(true);
      for (const pot of accounts) {
        const held = open.filter(({ account }) => account === pot);
        expect(held.reduce((sum, { nano }) => sum + nano, 0n)).toBe(pot.held);
      }
    }
    for (const hold of open) hold.release();
    for (const pot of [...accounts, ...budgets]) expect(pot.held).toBe(0n);
    // Else it would have shown nothing.
    expect(refused).toBeGreaterThan(100);
    expect(short).toBeGreaterThan(0);
  },
);
