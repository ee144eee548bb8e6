import { afterEach, expect, test } from "bun:test";
import type { PoolClient } from "pg";
import {
  credit,
  type LeaseNode,
  load,
  openNode,
  potOf,
  useLeases,
  want,
} from "../../../../test/setup/lease-nodes.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { FencedError } from "../../../ledger/store.ts";
import { shareSql } from "../locks.ts";

useLeases();

const open: PoolClient[] = [];

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

const setBudget = (node: LeaseNode) =>
  node.ledger.setLimits({
    owner: { accountId: "acct_1", keyId: undefined },
    limits: { budget: { nano: 500n, period: "total" } },
    audit: auditOf(),
    nowMs: () => Date.now(),
    unwritten: () => 0n,
    onSet: () => {},
  });

test("commits that overlap without a pause keep neither a tick nor who closes the epoch waiting", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  const first = await begin(a, "select svc_enter($1)", [a.epoch]);
  expect((await a.fleet.tick(load, 7)).isOpen).toBe(true);
  const closing = a.fleet.leave();
  const isWaiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  while ((await b.postgres.pool.query(isWaiting)).rowCount === 0);
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
  await dead.fleet.leave();
  const adding = await begin(node, "select 1 from epochs where id = $1 for update", [dead.epoch]);
  await node.ledger.commit([write(receiptOf({ charged: 1n, cost: 1n }))]);
  await setBudget(node);
  expect(await want(node, potOf(node), 50n)).toBe("held");
  expect((await node.fleet.tick(load, 0)).isOpen).toBe(true);
  await end(adding);
});

test("a budget gives way to a commit that takes long, and is set after it", async () => {
  const [a, b] = [await openNode("a"), await openNode("b")];
  await credit(a, 100n);
  const long = await begin(a, shareSql("limits"), []);
  const set = setBudget(b);
  // Waits behind the budget, and not for the long one.
  await b.ledger.commit([write(receiptOf({ charged: 1n, cost: 1n }))]);
  await end(long);
  await set;
  expect(await b.ledger.budgetSpends(0)).toEqual([
    { ownerId: "acct_1", periodStartMs: 0, spent: 1n },
  ]);
});
