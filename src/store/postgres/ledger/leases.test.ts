import { describe, expect, test } from "bun:test";
import {
  balanceOf,
  credit,
  hold,
  type LeaseNode,
  load,
  openNode,
  potOf,
  useLeases,
} from "../../../../test/setup/lease-nodes.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { entryOf } from "../../../../test/store/ledger-samples.ts";
import { Lender } from "../../../ledger/lender.ts";
import { Pot } from "../../../ledger/purse.ts";
import { createLeaseStore } from "./leases.ts";

useLeases();

describe("leases", () => {
  test("a process borrows what its calls need, or a quarter, and gives back what it did not use", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    const pot = potOf(node);
    expect(await node.lender.cover({ pots: [pot], nano: 1n, least: 1n, take: hold(pot, 1n) })).toBe(
      "held",
    );
    expect(pot.limit).toBe(25n);
    expect(
      await node.lender.cover({ pots: [pot], nano: 60n, least: 60n, take: hold(pot, 60n) }),
    ).toBe("held");
    expect(pot.limit).toBeGreaterThanOrEqual(61n);
    expect(await balanceOf(node)).toBe(100n);
    pot.held -= 61n;
    await node.lender.tick(["acct_1"]);
    expect(pot.limit).toBe(0n);
    expect(
      (await node.ledger.addEntry(entryOf({ kind: "withdrawal", nano: -100n }), auditOf())).result,
    ).toBe("added");
  });

  test("no two processes spend the same dollar, whatever they want at once", async () => {
    const all = await Promise.all(["a", "b", "c", "d"].map((name) => openNode(name)));
    await credit(all[0] as LeaseNode, 10n);
    const ticks = setInterval(() => {
      for (const node of all)
        void node.fleet
          .tick(load, 0)
          .then(({ recalls }) => node.lender.tick(recalls))
          .catch(() => {});
    }, 50);
    const outcomes = await Promise.all(
      all.flatMap((node) => {
        const pot = potOf(node);
        return Array.from({ length: 50 }, () =>
          node.lender.cover({ pots: [pot], nano: 1n, least: 1n, take: hold(pot, 1n) }),
        );
      }),
    );
    clearInterval(ticks);
    expect(outcomes.filter((outcome) => outcome === "held")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "short")).toHaveLength(190);
  });

  test("what one process does not use is given to another that needs it, and to a withdrawal", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    expect(
      await a.lender.cover({ pots: [pots[0]], nano: 80n, least: 80n, take: hold(pots[0], 80n) }),
    ).toBe("held");
    pots[0].held -= 80n;
    const ticks = setInterval(() => {
      for (const node of [a, b])
        void node.fleet
          .tick(load, 0)
          .then(({ recalls }) => node.lender.tick(recalls))
          .catch(() => {});
    }, 50);
    expect(
      await b.lender.cover({ pots: [pots[1]], nano: 90n, least: 90n, take: hold(pots[1], 90n) }),
    ).toBe("held");
    pots[1].held -= 90n;
    const withdrawal = entryOf({ kind: "withdrawal", nano: -95n });
    expect((await a.ledger.addEntry(withdrawal, auditOf())).result).toBe("added");
    clearInterval(ticks);
    expect(await balanceOf(a)).toBe(5n);
  });

  test("money that only a silent process has is told apart from money that is not there", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    const pots = [potOf(a), potOf(b)] as const;
    await a.lender.cover({ pots: [pots[0]], nano: 100n, least: 100n, take: hold(pots[0], 100n) });
    await b.postgres.pool.query(
      "update epochs set renewed_at = renewed_at - interval '1 hour' where id = $1",
      [a.epoch],
    );
    const want = (nano: bigint) =>
      b.lender.cover({ pots: [pots[1]], nano, least: nano, take: hold(pots[1], nano) });
    expect(await want(50n)).toBe("silent");
    expect(await want(101n)).toBe("short");
  });
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
  const want = { pots: [pot], nano: 90n, least: 90n, take: hold(pot, 90n) };
  await expect(lossy.cover(want)).rejects.toThrow("lost");
  const other = potOf(b);
  const ticks = setInterval(() => {
    void a.fleet
      .tick(load, 0)
      .then(({ recalls }) => lossy.tick(recalls))
      .catch(() => {});
    void b.fleet.tick(load, 0).catch(() => {});
  }, 30);
  expect(
    await b.lender.cover({ pots: [other], nano: 100n, least: 100n, take: hold(other, 100n) }),
  ).toBe("held");
  clearInterval(ticks);
});
