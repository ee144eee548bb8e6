import { describe, expect, test } from "bun:test";
import {
  balanceOf,
  credit,
  hold,
  type LeaseNode,
  openNode,
  potOf,
  useLeases,
  want,
  whileTicking,
} from "../../../../test/setup/lease-nodes.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { entryOf, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { Lender } from "../../../ledger/lender.ts";
import { BudgetPot, Pot } from "../../../ledger/purse.ts";
import { createLeaseStore } from "./leases.ts";

useLeases();

describe("leases", () => {
  test("a process borrows what its calls need, or a quarter, and gives back what it did not use", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    const pot = potOf(node);
    expect(await want(node, pot, 1n)).toBe("held");
    expect(pot.limit).toBe(25n);
    expect(await want(node, pot, 60n)).toBe("held");
    expect(pot.limit).toBeGreaterThanOrEqual(61n);
    expect(await balanceOf(node)).toBe(100n);
    pot.held -= 61n;
    await node.lender.tick(["acct_1"]);
    expect(pot.limit).toBe(0n);
    expect(
      (await node.ledger.addEntry(entryOf({ kind: "withdrawal", nano: -100n }), auditOf())).result,
    ).toBe("added");
  });

  test("a process that drains gives back at once what its calls do not need", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    const pot = potOf(node);
    expect(await want(node, pot, 10n)).toBe("held");
    expect(pot.limit).toBe(25n);
    await node.lender.tick([], true);
    expect(pot.limit).toBe(10n);
    const [view] = await node.fleet.nodes();
    expect(view?.leasedNano).toBe(10n);
    pot.held -= 10n;
    await node.lender.tick([], true);
    expect(pot.limit).toBe(0n);
  });

  test("no two processes spend the same dollar, whatever they want at once", async () => {
    const all = await Promise.all(["a", "b", "c", "d"].map((name) => openNode(name)));
    await credit(all[0] as LeaseNode, 10n);
    const outcomes = await whileTicking(all, () =>
      Promise.all(
        all.flatMap((node) => {
          const pot = potOf(node);
          return Array.from({ length: 50 }, () => want(node, pot, 1n));
        }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "held")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "short")).toHaveLength(190);
  });

  test("what one process does not use is given to another that needs it, and to a withdrawal", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    expect(await want(a, pots[0], 80n)).toBe("held");
    pots[0].held -= 80n;
    await whileTicking([a, b], async () => {
      expect(await want(b, pots[1], 90n)).toBe("held");
      pots[1].held -= 90n;
      const withdrawal = entryOf({ kind: "withdrawal", nano: -95n });
      expect((await a.ledger.addEntry(withdrawal, auditOf())).result).toBe("added");
    });
    expect(await balanceOf(a)).toBe(5n);
  });

  test("money that only a silent process has is told apart from money that is not there", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    await want(a, pots[0], 100n);
    await b.postgres.pool.query(
      "update heartbeats set renewed_at = renewed_at - interval '1 hour' where epoch = $1",
      [a.epoch],
    );
    expect(await want(b, pots[1], 50n)).toBe("silent");
    expect(await want(b, pots[1], 101n)).toBe("short");
  });

  test("of two processes that each have a part of it, one gets what it needs", async () => {
    const [a, b, c] = [await openNode("a"), await openNode("b"), await openNode("c")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b), potOf(c)] as const;
    expect(await want(a, pots[0], 60n)).toBe("held");
    pots[0].held -= 60n;
    const outcomes = await whileTicking([a, b, c], () =>
      Promise.all([want(b, pots[1], 80n), want(c, pots[2], 80n)]),
    );
    expect(outcomes.toSorted()).toEqual(["held", "short"]);
  });

  test("a call that can do with less gets what there is, once others had time to give some back", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    expect(await want(a, pots[0], 70n)).toBe("held");
    const [pot] = [pots[1]];
    const take = (isLast: boolean) => hold(pot, isLast ? 10n : 50n)();
    const outcome = await whileTicking([a, b], () =>
      b.lender.cover({ pots: [pot], nano: 50n, least: 10n, take }),
    );
    expect(outcome).toBe("held");
  });

  test("an account with nothing left is asked for without a write, and then without asking", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    expect(await want(a, pots[0], 100n)).toBe("held");
    expect(await want(b, pots[1], 1n)).toBe("short");
    const ask = async () => {
      const client = await b.postgres.pool.connect();
      try {
        await client.query("begin");
        const wants = JSON.stringify([{ account: "acct_1", need: 1, least: 1, is_last: false }]);
        await client.query("select svc_lend($1, $2, '1 minute')", [b.epoch, wants]);
        const { rows } = await client.query("select pg_current_xact_id_if_assigned() as id");
        await client.query("commit");
        return rows[0]?.id;
      } finally {
        client.release();
      }
    };
    await ask();
    expect(await ask()).toBeNull();
    await a.ledger.commit([write(receiptOf({ charged: 100n, cost: 100n }))]);
    expect(await want(b, pots[1], 1n)).toBe("short");
    await credit(a, 1n);
    expect(await want(b, pots[1], 1n)).toBe("short");
    b.lender.heard(pots[1]);
    expect(await want(b, pots[1], 1n)).toBe("held");
  });
});

test("calls that wait for a budget draw no money from their account, and get it when the budget is raised", async () => {
  const node = await openNode("a");
  await credit(node, 1_000_000n);
  const account = potOf(node);
  const limit = { nano: 0n, period: "total" as const };
  const budget = new BudgetPot({ ownerId: "acct_1", budget: limit, spent: 0n, nowMs: 0 });
  node.lender.addBudget(budget, { isKey: false, version: 0, nano: 0n });
  const call = () =>
    node.lender.cover({
      pots: [account, budget],
      nano: 10n,
      least: 10n,
      take: () => (account.free < 10n ? undefined : hold(budget, 10n)()),
    });
  const outcomes = await Promise.all(Array.from({ length: 4 }, call));
  expect(outcomes).toEqual(Array(4).fill("short"));
  await call();
  expect(account.limit).toBeLessThanOrEqual(250_000n);
  node.lender.changeBudget(budget, { version: 0, nano: 100n });
  expect(await call()).toBe("held");
});

test("money whose loan was never confirmed is found again and given to who needs it", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 100n);
  const real = createLeaseStore(a.postgres.pool, a.epoch);
  const lossy = new Lender({
    ...real,
    async lend(requests) {
      const loans = await real.lend(requests);
      if (!isLost) return loans;
      isLost = false;
      throw new Error("the answer was lost");
    },
  });
  let isLost = true;
  const pot = new Pot(0n);
  lossy.addAccount(pot, "acct_1");
  const wanted = { pots: [pot], nano: 90n, least: 90n, take: hold(pot, 90n) };
  await expect(lossy.cover(wanted)).rejects.toThrow("lost");
  const other = potOf(b);
  const ticking = [{ ...a, lender: lossy }, b];
  expect(await whileTicking(ticking, () => want(b, other, 100n))).toBe("held");
});
