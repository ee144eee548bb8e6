import { afterEach, expect, test } from "bun:test";
import { usePostgres } from "../../../../test/setup/use-postgres.ts";
import { receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { newId } from "../../../base/ids.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { Rejection } from "../../../rejections/rejection.ts";
import { PostgresFleet } from "../fleet.ts";
import { createNodeStore, type NodeStore } from "../ledger-store.ts";
import { createPostgresStore } from "../store.ts";
import { LiveCalls } from "./live.ts";

const postgres = usePostgres();
const opened: LiveCalls[] = [];
afterEach(async () => {
  for (const live of opened.splice(0)) await live.close();
});

/** Of a process that people ask. */
function openLive(): LiveCalls {
  const live = new LiveCalls({ ...postgres(), onError: () => {}, retryMs: 1 });
  opened.push(live);
  return live;
}

async function openNode(name: string): Promise<NodeStore> {
  const { pool, db } = postgres();
  const node = { name, instance: name, version: "1", address: "", pid: 1 };
  const { epoch } = await new PostgresFleet({ pool, db, goneAfterMs: 60_000 }).join(node);
  const shared = await createPostgresStore(postgres(), "x");
  return createNodeStore({ postgres: postgres(), shared, epoch, nowMs: Date.now });
}

const free = (id = newId("req")): Receipt => receiptOf({ id, charged: 0n, hold: 0n });

/** What is heard, up to a call that ends it. */
function record(live: LiveCalls, lastId: string): Promise<readonly string[]> {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const heard: string[] = [];
  const add = (id: string, text = id) => {
    heard.push(text);
    if (id === lastId) resolve(heard);
  };
  live.watchers.add(({ id }) => add(id));
  live.rejectionWatchers.add(({ id, count }) => add(id, `${id} x${count}`));
  return promise;
}

test("who watches hears of the receipts of all nodes, in the order of their commits, each once", async () => {
  const live = openLive();
  const nodes = [await openNode("eu-1"), await openNode("eu-2")];
  const last = free();
  const heard = record(live, last.id);
  await live.listening();
  const expected: string[] = [];
  for (let at = 0; at < 10; at++) {
    // More than one notice can carry.
    const receipts = Array.from({ length: at === 0 ? 250 : 3 }, () => free());
    await nodes[at % 2]?.ledger.commit(receipts.map((one) => write(one)));
    // A commit that is tried again adds nothing.
    await nodes[at % 2]?.ledger.commit(receipts.map((one) => write(one)));
    expected.push(...receipts.map(({ id }) => id));
  }
  await nodes[0]?.ledger.commit([write(last)]);
  expect(await heard).toEqual([...expected, last.id]);
});

test("a receipt is heard of as it is stored", async () => {
  const live = openLive();
  const node = await openNode("eu-1");
  const { promise, resolve } = Promise.withResolvers<Receipt>();
  live.watchers.add(resolve);
  await live.listening();
  const receipt = { ...free(), cost: 9_007_199_254_740_993n };
  await node.ledger.commit([write(receipt)]);
  expect(await promise).toMatchObject(receipt);
});

test("refused calls are heard of with the calls that were added to their rows", async () => {
  const live = openLive();
  const node = await openNode("eu-1");
  const rejection: Rejection = {
    id: newId("req", 1),
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    endpoint: "chat",
    dialect: "chat",
    status: 429,
    code: "rate_limited",
    message: "Too many.",
    reason: "",
    count: 1,
  };
  const last = newId("req", 2);
  const heard = record(live, last);
  await live.listening();
  const add = (...rows: readonly Rejection[]) =>
    node.rejections.add({ rows, counts: [], keys: [] });
  await add(rejection);
  await add({ ...rejection, count: 7 }, { ...rejection, id: last });
  expect(await heard).toEqual([`${rejection.id} x1`, `${rejection.id} x7`, `${last} x1`]);
});

test("while nobody watches, nothing is said", async () => {
  const { newClient } = postgres();
  const node = await openNode("eu-1");
  const client = newClient();
  await client.connect();
  let said = 0;
  client.on("notification", () => said++);
  await client.query("listen svc_live");
  await node.ledger.commit([write(free())]);
  await client.query("select 1");
  expect(said).toBe(0);
  await client.end();
});

test("a connection that is lost is made again, and nothing is said twice", async () => {
  const live = openLive();
  const node = await openNode("eu-1");
  const [first, last] = [free(), free()];
  const isFirst = Promise.withResolvers<void>();
  live.watchers.add(() => isFirst.resolve());
  const heard = record(live, last.id);
  await live.listening();
  await node.ledger.commit([write(first)]);
  await isFirst.promise;
  const { pool } = postgres();
  const listeners = `from pg_stat_activity where datname = current_database()
    and query not like '%pg_stat_activity%' and query like '%live_watch%'`;
  const listener = async () => (await pool.query(`select pid ${listeners}`)).rows[0]?.pid;
  const lost = await listener();
  await pool.query("select pg_terminate_backend($1)", [lost]);
  for (let now = lost; now === lost || now === undefined; ) now = await listener();
  await live.listening();
  await node.ledger.commit([write(last)]);
  expect(await heard).toEqual([first.id, last.id]);
});

test("it listens no more when the last one has gone, and again for the next one", async () => {
  const live = openLive();
  const node = await openNode("eu-1");
  const gone = () => {};
  live.watchers.add(gone);
  live.watchers.delete(gone);
  const last = free();
  const heard = record(live, last.id);
  await live.listening();
  await node.ledger.commit([write(last)]);
  expect(await heard).toEqual([last.id]);
});
