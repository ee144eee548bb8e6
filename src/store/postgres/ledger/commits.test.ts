import { describe, expect, test } from "bun:test";
import {
  balanceOf,
  credit,
  goneAfterMs,
  hold,
  type LeaseNode,
  load,
  openNode,
  potOf,
  setBudget,
  setClockForward,
  useLeases,
  want,
} from "../../../../test/setup/lease-nodes.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { claimOf, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import type { AccountStore } from "../../../ledger/account.ts";
import { type BudgetPot, Hold, Pot } from "../../../ledger/purse.ts";
import { Purses } from "../../../ledger/purses.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { toHour } from "../../../ledger/rollups.ts";
import { ClaimsLostError, FencedError, type LedgerWrite } from "../../../ledger/store.ts";
import { looksApartMs } from "../silent-epochs.ts";

useLeases();

const noAccounts = { list: async () => [] } as unknown as AccountStore;

describe("commits", () => {
  const spend = (node: LeaseNode, charged: bigint, rest: Partial<Receipt> = {}) =>
    node.ledger.commit([write(receiptOf({ charged, cost: charged, ...rest }))]);

  test("the same batch again charges nothing again, and is told once", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    const batch = [write(receiptOf({ charged: 10n })), write(receiptOf({ charged: 5n }))];
    await node.ledger.commit(batch);
    await node.ledger.commit(batch);
    expect(await balanceOf(node)).toBe(85n);
    expect(node.told).toHaveLength(2);
  });

  test("more than was lent is lent on the spot, if the account has it", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    const pot = potOf(node);
    expect(await want(node, pot, 1n)).toBe("held");
    expect(pot.limit).toBe(25n);
    await spend(node, 30n);
    expect(await balanceOf(node)).toBe(70n);
  });

  test("more than an account has is charged to nobody", async () => {
    const node = await openNode("a");
    await credit(node, 10n);
    await expect(spend(node, 11n)).rejects.toThrow("does not have");
    await spend(node, 10n);
    expect(await balanceOf(node)).toBe(0n);
  });

  test("an epoch that another has closed charges nothing: the receipt stays, marked", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    await spend(a, 10n);
    await a.ledger.commit([{ type: "claim", claim: claimOf() }]);
    await setClockForward(b, "1 hour");
    expect((await b.fleet.tick(load, 0)).isOpen).toBe(true);
    await b.fleet.recover();
    b.time.ms += looksApartMs;
    const closed = await Promise.all([b.fleet.recover(), b.fleet.recover(), b.fleet.recover()]);
    expect(closed.reduce((one, other) => one + other)).toBe(1);
    expect(await balanceOf(b)).toBe(90n);
    expect(await b.ledger.findClaim("claim_1")).toBeUndefined();
    const late = receiptOf({ charged: 20n, cost: 20n });
    await expect(a.ledger.commit([write(late)])).rejects.toBeInstanceOf(FencedError);
    expect(a.isClosed).toBe(true);
    expect(await balanceOf(b)).toBe(90n);
    const { rows } = await b.postgres.pool.query(
      "select charged, cost, is_fenced from receipts where id = $1",
      [late.id],
    );
    expect(rows).toEqual([{ charged: 0, cost: 20, is_fenced: true }]);
    // Its process can add it to no sums any more, so another one does.
    await b.fleet.recover();
    const sums = await b.postgres.pool.query(
      "select sum(receipts) as receipts, sum(charged) as charged from rollups",
    );
    expect(sums.rows).toEqual([{ receipts: 2, charged: 10 }]);
    const pot = potOf(a);
    await expect(
      a.lender.cover({ pots: [pot], nano: 1n, least: 1n, take: hold(pot, 1n) }),
    ).rejects.toThrow("closed");
    expect((await a.fleet.tick(load, 0)).isOpen).toBe(false);
  });

  test.each(["1 hour", "-10 years"])(
    "a clock of the database that is set forward by %s closes no node that runs",
    async (by) => {
      const [a, b] = [await openNode("a"), await openNode("b")];
      await setClockForward(b, by);
      // It looks before anybody has ticked.
      for (const after of [0, looksApartMs - 1]) {
        b.time.ms += after;
        expect(await b.fleet.recover()).toBe(0);
      }
      for (const node of [a, b]) expect((await node.fleet.tick(load, 0)).isOpen).toBe(true);
      b.time.ms += goneAfterMs;
      expect(await b.fleet.recover()).toBe(0);
      // One that is gone stays gone, whatever the clock shows.
      await setClockForward(b, by);
      await b.fleet.tick(load, 0);
      expect(await b.fleet.recover()).toBe(0);
      b.time.ms += goneAfterMs;
      expect(await b.fleet.recover()).toBe(1);
      expect((await a.fleet.tick(load, 0)).isOpen).toBe(false);
    },
  );

  test("a node that starts again closes what it left; another by its name is refused while it runs", async () => {
    const first = await openNode("a");
    await credit(first, 100n);
    await spend(first, 10n);
    await expect(openNode("a", "another folder")).rejects.toThrow(
      "Another node named a uses this database",
    );
    const again = await openNode("a");
    expect(again.epoch).toBeGreaterThan(first.epoch);
    await expect(spend(first, 1n)).rejects.toBeInstanceOf(FencedError);
    expect(await balanceOf(again)).toBe(90n);
    await again.fleet.leave();
    const { rows } = await again.postgres.pool.query(
      "select unleased, settled from accounts where id = 'acct_1'",
    );
    expect(rows).toEqual([{ unleased: 90, settled: 10 }]);
  });

  test("of two requests with one Idempotency-Key on two nodes, one loses, and what it wrote with it stands", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    const claim = (requestId: string): LedgerWrite => ({
      type: "claim",
      claim: claimOf({ requestId, expiresAtMs: 5_000 }),
    });
    const other = write(receiptOf({ charged: 0n }));
    const outcomes = await Promise.allSettled([
      a.ledger.commit([claim("req_a"), other]),
      b.ledger.commit([claim("req_b")]),
    ]);
    const lost = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeInstanceOf(ClaimsLostError);
    expect(a.told).toHaveLength(1);
    const winner = (await a.ledger.findClaim("claim_1"))?.requestId === "req_a" ? a : b;
    const id = winner === a ? "req_a" : "req_b";
    const done = claimOf({
      requestId: id,
      isDone: true,
      reply: new Uint8Array([0, 255]),
      expiresAtMs: 5_000,
    });
    await winner.ledger.commit([
      { ...write(receiptOf({ charged: 0n })), claim: done } as LedgerWrite,
    ]);
    expect(await b.ledger.findClaim("claim_1")).toEqual(done);
    const loser = winner === a ? b : a;
    await loser.ledger.commit([{ type: "claim-release", id: "claim_1" }]);
    expect(await b.ledger.findClaim("claim_1")).toEqual(done);
  });

  test("a receipt that must not stand is taken out, with all that came with it, or was never there", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    await node.postgres.pool.query(
      "insert into budget_leases (owner_id, period_start_ms, epoch, granted, spent) values ('key_1', 0, $1, 50, 0)",
      [node.epoch],
    );
    const claim = claimOf({ isDone: true, expiresAtMs: 5_000 });
    const one = {
      ...write(receiptOf({ charged: 10n }), [{ ownerId: "key_1", periodStartMs: 0 }]),
      claim,
    };
    const of = one as Extract<LedgerWrite, { type: "receipt" }>;
    await node.ledger.commit([of]);
    expect(await balanceOf(node)).toBe(90n);
    const never = write(receiptOf({ charged: 5n })) as typeof of;
    await node.ledger.commit([
      { type: "void", of },
      { type: "void", of: never },
      write(receiptOf({ charged: 3n })),
    ]);
    expect(await balanceOf(node)).toBe(97n);
    expect(await node.ledger.budgetSpends(0)).toEqual([]);
    expect(await node.ledger.findClaim("claim_1")).toBeUndefined();
  });

  test("one that must not stand leaves the budget that was set before its commit, too", async () => {
    const node = await openNode("a");
    await credit(node, 100n);
    await setBudget(node);
    const of = write(receiptOf({ charged: 10n })) as Extract<LedgerWrite, { type: "receipt" }>;
    await node.ledger.commit([of, write(receiptOf({ charged: 5n }))]);
    const spent = async () => (await node.ledger.budgetSpends(0)).map((one) => one.spent);
    expect(await spent()).toEqual([15n]);
    await node.ledger.commit([{ type: "void", of }]);
    expect(await spent()).toEqual([5n]);
  });

  test("one that must not stand is paid back after its epoch was closed as well", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await credit(a, 100n);
    await a.postgres.pool.query(
      "insert into budget_leases (owner_id, period_start_ms, epoch, granted, spent) values ('key_1', 0, $1, 50, 0)",
      [a.epoch],
    );
    const budgets = [{ ownerId: "key_1", periodStartMs: 0 }];
    const of = write(receiptOf({ charged: 10n }), budgets) as Extract<
      LedgerWrite,
      { type: "receipt" }
    >;
    await a.ledger.commit([of, write(receiptOf({ charged: 3n }), budgets)]);
    // Counts it as well, because it was set after the call was let in.
    await setBudget(a);
    await a.fleet.leave();
    expect(await balanceOf(b)).toBe(87n);
    const late = receiptOf({ charged: 4n });
    const both: LedgerWrite[] = [{ type: "void", of }, write(late)];
    await expect(a.ledger.commit(both)).rejects.toBeInstanceOf(FencedError);
    expect(await balanceOf(b)).toBe(97n);
    const kept = await b.postgres.pool.query("select charged from receipts where id = $1", [
      late.id,
    ]);
    expect(kept.rows).toEqual([{ charged: 0 }]);
    await b.fleet.recover();
    const sums = await b.postgres.pool.query("select sum(charged) as charged from rollups");
    expect(sums.rows).toEqual([{ charged: 3 }]);
    const spends = await b.ledger.budgetSpends(0);
    expect(spends.map(({ ownerId, spent }) => [ownerId, spent]).toSorted()).toEqual([
      ["acct_1", 3n],
      ["key_1", 3n],
    ]);
  });

  test("what a vendor says of itself is kept as far as the database can keep it", async () => {
    const node = await openNode("a");
    const odd = receiptOf({ charged: 0n, outcome: "a\u0000b\ud800" });
    await node.ledger.commit([write(odd)]);
    const { rows } = await node.postgres.pool.query("select outcome from receipts where id = $1", [
      odd.id,
    ]);
    expect(rows).toEqual([{ outcome: "a\ufffdb\ufffd" }]);
  });
});

test("a budget that is set while calls run counts each of them exactly once", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 1_000_000n);
  // As a process does before its first receipt: from this hour on its sums lack some.
  await a.postgres.pool.query("update epochs set open_from_ms = $1", [toHour(Date.now())]);
  const commits = async (node: LeaseNode) => {
    let charged = 0n;
    for (let at = 0; at < 40; at++) {
      const id = newId("req", Date.now());
      await node.ledger.commit([write(receiptOf({ id, charged: 1n, cost: 1n }))]);
      charged += 1n;
    }
    return charged;
  };
  const set = (async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return setBudget(a);
  })();
  const [one, other, version] = await Promise.all([commits(a), commits(b), set]);
  expect(await a.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: one + other },
  ]);
  const pot = new (class extends Pot {
    readonly ownerId = "acct_1";
    readonly periodStartMs = 0;
    periodEndMs = Number.POSITIVE_INFINITY;
  })(0n) as unknown as BudgetPot;
  b.lender.addBudget(pot, { isKey: false, version, nano: 500n });
  const want = (nano: bigint) =>
    b.lender.cover({ pots: [pot], nano, least: nano, take: hold(pot, nano) });
  expect(await want(421n)).toBe("short");
  expect(await want(420n)).toBe("held");
});

test("a budget that is taken away and set again goes on with what was spent of it", async () => {
  const node = await openNode("a");
  await credit(node, 1_000_000n);
  await node.postgres.pool.query("update epochs set open_from_ms = 0");
  const purses = new Purses(noAccounts, node.ledger, node.lender);
  const set = async (nano: bigint | undefined) => {
    const limits = nano === undefined ? undefined : { budget: { nano, period: "total" as const } };
    let version = 0;
    await node.ledger.setLimits({
      owner: { accountId: "acct_1", keyId: undefined },
      limits,
      audit: auditOf(),
      nowMs: () => Date.now(),
      unwritten: () => 0n,
      onSet: (done) => {
        version = done.version;
      },
    });
    return { ...(limits === undefined ? {} : { limits }), limitsVersion: version };
  };
  const spend = async (record: Parameters<Purses["budgetOf"]>[1], nano: bigint) => {
    const pot = purses.budgetOf("acct_1", record, Date.now());
    if (pot === undefined) throw new Error("there is a budget");
    const take = () => Hold.take(nano, new Pot(nano), [pot]);
    const hold = await node.lender.cover({ pots: [pot], nano, least: nano, take });
    if (hold === "short" || hold === "silent") return hold;
    hold.settle(nano);
    const of = { accountLimits: record.limitsVersion ?? 0, keyLimits: 0 };
    const terms = { ...of, hold: { input: 0, output: 0, audio: 0, image: 0, video: 0 } };
    const receipt = receiptOf({ id: newId("req", Date.now()), charged: nano, cost: nano, terms });
    await node.ledger.commit([write(receipt, [{ ownerId: "acct_1", periodStartMs: 0 }])]);
    return "spent";
  };
  const first = await set(100n);
  expect(await spend(first, 60n)).toBe("spent");
  const none = await set(undefined);
  expect(purses.budgetOf("acct_1", none, Date.now())).toBeUndefined();
  // A call that has waited still has the record from before.
  expect(purses.budgetOf("acct_1", first, Date.now())).toBeUndefined();
  const again = await set(100n);
  expect(await spend(again, 60n)).toBe("short");
  expect(await spend(again, 40n)).toBe("spent");
  expect(await node.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: 100n },
  ]);
});

test("limits of two owners that change while a batch is written hold nothing up", async () => {
  const node = await openNode("a");
  await credit(node, 100n);
  await credit(node, 100n, "acct_2");
  const limits = (accountId: string) =>
    node.ledger.setLimits({
      owner: { accountId, keyId: undefined },
      limits: { rpm: 5 },
      audit: auditOf(),
      nowMs: () => Date.now(),
      unwritten: () => 0n,
      onSet: () => {},
    });
  await limits("acct_1");
  await limits("acct_2");
  const batch = ["acct_1", "acct_2"].map((accountId) =>
    write(receiptOf({ accountId, charged: 1n })),
  );
  const committed = node.ledger.commit(batch);
  await Promise.all([committed, limits("acct_1"), limits("acct_2"), limits("acct_1")]);
  expect(node.told).toHaveLength(2);
});
