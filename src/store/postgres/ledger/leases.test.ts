import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createDatabase, dropDatabase } from "../../../../test/setup/postgres.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { claimOf, entryOf, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import { Lender } from "../../../ledger/lender.ts";
import { type BudgetPot, Pot } from "../../../ledger/purse.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { toHour } from "../../../ledger/rollups.ts";
import {
  ClaimsLostError,
  FencedError,
  type LedgerStore,
  type LedgerWrite,
} from "../../../ledger/store.ts";
import { PostgresFleet } from "../fleet.ts";
import { migrate } from "../migrations/migrations.ts";
import { openPostgres, type Postgres } from "../postgres.ts";
import { SumsMark } from "../reports/sums-mark.ts";
import { createLeaseStore } from "./leases.ts";
import { createLedgerStore } from "./ledger.ts";
import { LedgerWriter } from "./writer.ts";

interface Node {
  readonly postgres: Postgres;
  readonly fleet: PostgresFleet;
  readonly epoch: number;
  readonly ledger: LedgerStore;
  readonly lender: Lender;
  readonly told: Receipt[];
  isClosed: boolean;
}

const goneAfterMs = 60_000;
const load = { calls: 0, memoryMb: 0, cpuMs: 0 };
let url: string;
let nodes: Node[];

const noRollups = {} as LedgerStore["rollups"];

async function openNode(name: string, instance = name): Promise<Node> {
  const postgres = await openPostgres({ url });
  const fleet = new PostgresFleet({ pool: postgres.pool, db: postgres.db, goneAfterMs });
  const { epoch } = await fleet.join({ name, instance, version: "0", address: "", pid: 1 });
  const told: Receipt[] = [];
  const writer = new LedgerWriter({
    pool: postgres.pool,
    epoch,
    mark: new SumsMark(),
    onReceipt: (receipt) => told.push(receipt),
    onClosed: () => {
      node.isClosed = true;
    },
    nowMs: () => 1_000,
  });
  const ledger = createLedgerStore({
    pool: postgres.pool,
    commit: (writes) => writer.commit(writes),
    watch: () => {},
    rollups: noRollups,
  });
  const lender = new Lender(createLeaseStore(postgres.pool, epoch));
  const node: Node = { postgres, fleet, epoch, ledger, lender, told, isClosed: false };
  nodes.push(node);
  return node;
}

beforeEach(async () => {
  nodes = [];
  url = await createDatabase();
  const postgres = await openPostgres({ url });
  await migrate(postgres.db);
  await postgres.pool.query(
    "insert into accounts (id, name, created_at_ms) values ('acct_1', 'one', 1), ('acct_2', 'two', 1)",
  );
  await postgres.close();
});

afterEach(async () => {
  await Promise.all(nodes.map(({ postgres }) => postgres.close()));
  await dropDatabase(url);
});

const credit = (node: Node, nano: bigint, accountId = "acct_1") =>
  node.ledger.addEntry(entryOf({ nano, accountId }), auditOf());

async function balanceOf(node: Node, accountId = "acct_1"): Promise<bigint> {
  const { granted = 0n, spent = 0n } = (await node.ledger.lease(accountId)) ?? {};
  return granted - spent;
}

const potOf = (node: Node, accountId = "acct_1") => {
  const pot = new Pot(0n);
  node.lender.addAccount(pot, accountId);
  return pot;
};

const hold = (pot: Pot, nano: bigint) => () => {
  if (pot.free < nano) return undefined;
  pot.held += nano;
  return "held" as const;
};

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
    await credit(all[0] as Node, 10n);
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

describe("commits", () => {
  const spend = (node: Node, charged: bigint, rest: Partial<Receipt> = {}) =>
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
    await b.postgres.pool.query(
      "update epochs set renewed_at = renewed_at - interval '1 hour' where id = $1",
      [a.epoch],
    );
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
  const budget = { nano: 500n, period: "total" as const };
  let isSet = false;
  const commits = async (node: Node) => {
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
    await a.ledger.setLimits({
      owner: { accountId: "acct_1", keyId: undefined },
      limits: { budget },
      audit: auditOf(),
      nowMs: () => Date.now(),
      unwritten: () => 0n,
      onSet: () => {
        isSet = true;
      },
    });
  })();
  const [one, other] = await Promise.all([commits(a), commits(b), set]);
  expect(isSet).toBe(true);
  expect(await a.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: one + other },
  ]);
  const pot = new (class extends Pot {
    readonly ownerId = "acct_1";
    readonly periodStartMs = 0;
    periodEndMs = Number.POSITIVE_INFINITY;
  })(0n) as unknown as BudgetPot;
  b.lender.addBudget(pot, { isKey: false, version: 1, nano: 500n });
  const want = (nano: bigint) =>
    b.lender.cover({ pots: [pot], nano, least: nano, take: hold(pot, nano) });
  expect(await want(421n)).toBe("short");
  expect(await want(420n)).toBe("held");
});
