import { afterEach, expect, test } from "bun:test";
import type { PoolClient } from "pg";
import {
  credit,
  type LeaseNode,
  load,
  openNode,
  potOf,
  setBudget,
  useLeases,
  want,
} from "../../../../test/setup/lease-nodes.ts";
import { receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { FencedError, type ReceiptWrite } from "../../../ledger/store.ts";
import { shareCall, shareSql } from "../locks.ts";
import { recountEpoch } from "../reports/recount.ts";
import { transact } from "../transaction.ts";
import { closeEpoch } from "./close-epoch.ts";
import { commitSql, commitValues } from "./writer.ts";

useLeases();

const open: PoolClient[] = [];
const sent = { known: [], nowMs: 1_000, openMs: undefined };

/** A transaction of another process, in the middle of its work. */
async function begin(
  node: LeaseNode,
  sql: string,
  values: readonly unknown[],
): Promise<PoolClient> {
  const client = await node.postgres.pool.connect();
  open.push(client);
  await client.query("begin");
  await client.query(sql, [...values]);
  return client;
}

async function end(client: PoolClient): Promise<void> {
  await client.query("commit");
  const at = open.indexOf(client);
  if (at !== -1) open.splice(at, 1);
  client.release();
}

afterEach(async () => {
  for (const client of open.splice(0)) await end(client);
});

async function untilOneWaits({ postgres }: LeaseNode, kind = "advisory"): Promise<void> {
  const isWaiting = `select 1 from pg_locks where locktype = '${kind}' and not granted`;
  while ((await postgres.pool.query(isWaiting)).rowCount === 0);
}

test("commits that overlap without a pause keep neither a tick nor who closes the epoch waiting", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  const first = await begin(a, "select svc_enter($1)", [a.epoch]);
  expect((await a.fleet.tick(load, 7)).isOpen).toBe(true);
  const closing = a.fleet.leave();
  await untilOneWaits(b);
  // Comes after the one that waits, though it could share the lock with the first.
  const later = a.ledger
    .commit([write(receiptOf({ charged: 0n }))])
    .catch((error: unknown) => error);
  await end(first);
  await closing;
  expect(await later).toBeInstanceOf(FencedError);
});

test("while the sums of a dead node are added up, others commit, borrow and set budgets", async () => {
  const [dead, node] = [await openNode("a"), await openNode("b")];
  await credit(node, 100n);
  await transact(node.postgres.pool, (client) => closeEpoch(client, dead.epoch));
  await node.postgres.pool.query("update epochs set open_from_ms = 0 where id = $1", [dead.epoch]);
  // A report that is being written keeps it from its end.
  const report = await begin(node, shareSql("sums"), []);
  const adding = transact(node.postgres.pool, (client) => recountEpoch(client, dead.epoch));
  await untilOneWaits(node);
  await node.ledger.commit([write(receiptOf({ charged: 1n, cost: 1n }))]);
  await setBudget(node);
  expect(await want(node, potOf(node), 50n)).toBe("held");
  expect((await node.fleet.tick(load, 0)).isOpen).toBe(true);
  // Another one leaves it to that one.
  await node.fleet.recover();
  await end(report);
  await adding;
});

test("other calls go on while a budget adds up its receipts, and each receipt counts once", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 100n);
  await credit(a, 100n, "acct_2");
  await b.ledger.commit([write(receiptOf({ charged: 1n, cost: 1n }))]);
  const adding = await begin(a, "lock table rollup_days in access exclusive mode", []);
  const set = setBudget(a);
  await untilOneWaits(a, "relation");
  const isFree = `select pg_try_${shareCall("limits").slice(3)} as is`;
  expect((await b.postgres.pool.query(isFree)).rows).toEqual([{ is: true }]);
  const taken = write(receiptOf({ charged: 4n, cost: 4n })) as ReceiptWrite;
  await b.ledger.commit([write(receiptOf({ charged: 2n, cost: 2n })), taken]);
  await b.ledger.commit([{ type: "void", of: taken }]);
  await b.ledger.commit([write(receiptOf({ accountId: "acct_2", charged: 1n, cost: 1n }))]);
  expect(await want(b, potOf(b), 50n)).toBe("held");
  await end(adding);
  await set;
  expect(await b.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: 3n },
  ]);
});

test("a budget waits for a commit that began before it, and others do not", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 100n);
  for (const node of [a, b]) expect(await want(node, potOf(node), 20n)).toBe("held");
  const receipts = [write(receiptOf({ charged: 4n, cost: 4n }))] as ReceiptWrite[];
  const values = commitValues({ epoch: a.epoch, writes: receipts, receipts, ...sent });
  const long = await begin(a, commitSql, values);
  const set = setBudget(b);
  const isStarted = "select 1 from accounts where id = 'acct_1' and limits_version > 0";
  while ((await b.postgres.pool.query(isStarted)).rowCount === 0);
  await b.ledger.commit([write(receiptOf({ charged: 1n, cost: 1n }))]);
  await end(long);
  await set;
  expect(await b.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: 5n },
  ]);
});

test("of two that set limits of one owner at the same time, both are set, one after the other", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 100n);
  await a.ledger.commit([write(receiptOf({ charged: 3n, cost: 3n }))]);
  await Promise.all([setBudget(a), setBudget(b), setBudget(a)]);
  expect(await b.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: 3n },
  ]);
  const { rows } = await a.postgres.pool.query("select count(*) as count from audit");
  expect(rows).toEqual([{ count: 4 }]);
});

test("a tick that waited for who closes its epoch finds it closed", async () => {
  const node = await openNode("a");
  const closing = await node.postgres.pool.connect();
  open.push(closing);
  await closing.query("begin");
  await closeEpoch(closing, node.epoch);
  const tick = node.fleet.tick(load, 0);
  const isWaiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  while ((await node.postgres.pool.query(isWaiting)).rowCount === 0);
  await end(closing);
  expect((await tick).isOpen).toBe(false);
});

test("held and late receipts of one budget, and loans of it, never wait for each other in turn", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 1_000_000n);
  const version = await setBudget(a);
  const budgets = [{ ownerId: "acct_1", periodStartMs: 0 }];
  const wants = [
    { owner: "acct_1", is_key: false, period: 0, version, nano: 500, need: 5, least: 5 },
  ].map((one) => ({ ...one, is_last: false }));
  const borrow = (node: LeaseNode) =>
    node.postgres.pool.query("select svc_lend_budgets($1, $2, '1 minute')", [
      node.epoch,
      JSON.stringify(wants),
    ]);
  await Promise.all([borrow(a), borrow(b)]);
  const terms = { keyLimits: 0, hold: { input: 0, output: 0, audio: 0, image: 0, video: 0 } };
  const spend = (node: LeaseNode) =>
    node.ledger.commit([
      write(receiptOf({ charged: 1n, terms: { ...terms, accountLimits: version } }), budgets),
      write(receiptOf({ charged: 1n, terms: { ...terms, accountLimits: 0 } })),
    ]);
  const work = [a, b].flatMap((node) => [spend, borrow].map((one) => ({ node, one })));
  await Promise.all(
    work.map(async ({ node, one }) => {
      for (let at = 0; at < 25; at++) await one(node);
    }),
  );
  const { rows } = await a.postgres.pool.query(
    "select (select sum(spent) from budget_leases) + (select sum(spent) from budget_spends) as spent",
  );
  expect(rows).toEqual([{ spent: 100 }]);
});
