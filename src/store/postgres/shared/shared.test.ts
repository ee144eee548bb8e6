import { expect, test } from "bun:test";
import { usePostgres } from "../../../../test/setup/use-postgres.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { healthOf } from "../../../../test/store/catalog-samples.ts";
import { FeedFollower } from "../../../base/feed.ts";
import { createFeedStore } from "../../sql/feed.ts";
import { PostgresFleet } from "../fleet.ts";
import { createEndedOwnerStore } from "./ended-owners.ts";
import { SignInTries } from "./sign-in-tries.ts";
import { PostgresTargets } from "./targets.ts";

const postgres = usePostgres();
const load = { calls: 0, memoryMb: 0, cpuMs: 0 };

async function join(
  name: string,
  instance = name,
): Promise<{ fleet: PostgresFleet; epoch: number }> {
  const { pool, db } = postgres();
  const fleet = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
  const node = { name, instance, version: "1", address: "http://127.0.0.1:1", pid: 1 };
  return { fleet, ...(await fleet.join(node)) };
}

test("a target is as well as it is for the node with the most trouble, and which nodes have some", async () => {
  const targets = new PostgresTargets(postgres().pool);
  const [one, other, third] = [await join("eu-1"), await join("eu-2"), await join("eu-3")];
  await targets.write(one.epoch, [healthOf({ hasServed: true, requests: 5 })]);
  const open = healthOf({ state: "open", reason: "auth", sinceMs: 50, untilMs: 90, failures: 2 });
  await targets.write(other.epoch, [{ ...open, sinceMs: 70 }]);
  await targets.write(third.epoch, [open, healthOf({ model: "small" })]);
  const merged = { requests: 7, failures: 4, hasServed: true, nodes: ["eu-2", "eu-3"] };
  expect(await targets.health()).toEqual([{ ...open, ...merged }, healthOf({ model: "small" })]);
  await targets.write(third.epoch, []);
  expect(await targets.health()).toMatchObject([{ sinceMs: 70, nodes: ["eu-2"] }]);
});

test("what a node wrote counts no more when its epoch is closed, also what it writes late", async () => {
  const { pool } = postgres();
  const targets = new PostgresTargets(pool);
  const { fleet, epoch } = await join("eu-1");
  await targets.write(epoch, [healthOf()]);
  await fleet.leave();
  expect(await targets.health()).toEqual([]);
  await targets.write(epoch, [healthOf()]);
  expect((await pool.query("select * from target_health")).rows).toEqual([]);
});

test("a report waits until all nodes have written their sums", async () => {
  const [one, other] = [await join("eu-1"), await join("eu-2")];
  let isFresh = false;
  const asking = other.fleet.wantReports().then(() => (isFresh = true));
  let { reports } = await one.fleet.tick(load, 0);
  while (reports === 0) ({ reports } = await one.fleet.tick(load, 0));
  await other.fleet.reportsDone(reports);
  expect(isFresh).toBe(false);
  await one.fleet.reportsDone(reports);
  await asking;
  // A node that comes later has nothing that anybody asked for.
  await join("eu-3");
  const { rows } = await postgres().pool.query("select reports_done from heartbeats");
  expect(rows).toEqual(Array.from({ length: 3 }, () => ({ reports_done: reports })));
});

test("a report waits for no node that is silent, and no longer than a second for one that is slow", async () => {
  const { pool } = postgres();
  const silent = await join("eu-1");
  await pool.query(
    "update heartbeats set renewed_at = renewed_at - interval '1 minute' where epoch = $1",
    [silent.epoch],
  );
  const reader = new PostgresFleet({ pool, db: postgres().db, goneAfterMs: 60_000 });
  await reader.wantReports();
  await join("eu-2");
  await reader.wantReports();
});

test("the answer has how far sums reach that a slow, silent or dead node has not written", async () => {
  const { pool, db } = postgres();
  const reader = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
  const missing = async () => (await reader.wantReports()).missingSinceMs;
  expect(await missing()).toBeUndefined();
  const [slow, dead] = [await join("eu-1"), await join("eu-2")];
  await slow.fleet.tick({ ...load, sumsToMs: 2_000 }, 0);
  await dead.fleet.tick({ ...load, sumsToMs: 1_000 }, 0);
  await pool.query(
    "update heartbeats set renewed_at = renewed_at - interval '1 minute' where epoch = $1",
    [dead.epoch],
  );
  expect(await missing()).toBe(1_000);
  // Another node has closed its epoch, and has not counted its receipts yet.
  await pool.query("update epochs set is_open = false, open_from_ms = 0 where id = $1", [
    dead.epoch,
  ]);
  await slow.fleet.reportsDone(1_000);
  expect(await missing()).toBe(1_000);
  await pool.query("update epochs set open_from_ms = null where id = $1", [dead.epoch]);
  expect(await missing()).toBeUndefined();
});

test("one request serves all reports that wait for it to be sent", async () => {
  const { pool, db } = postgres();
  const reader = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
  await Promise.all(Array.from({ length: 20 }, () => reader.wantReports()));
  const { rows } = await pool.query("select wanted from report_requests");
  expect(rows).toEqual([{ wanted: 2 }]);
});

test("ended owners are known to all and announced; those whose keys are dead anyway are forgotten", async () => {
  const { db, pool } = postgres();
  const heard: string[] = [];
  const follower = new FeedFollower(createFeedStore(db), {
    changed: async (changes) =>
      void heard.push(...changes.map(({ topic, subject }) => `${topic} ${subject}`)),
    reloadAll: async () => {},
  });
  await follower.start();
  const [one, other] = [createEndedOwnerStore(db), createEndedOwnerStore(db)];
  const nowMs = Date.now();
  await one.end("user_old", nowMs - 3_600_000);
  await one.end("user_a", nowMs);
  // A process whose clock is behind takes nothing back.
  await other.end("user_a", nowMs - 60_000);
  expect(await other.ended()).toEqual(new Map([["user_a", nowMs]]));
  await follower.catchUp();
  expect(heard).toEqual(["user_old", "user_a", "user_a"].map((id) => `temporary-keys ${id}`));
  expect((await pool.query("select owner from ended_owners")).rows).toEqual([{ owner: "user_a" }]);
});

test("processes that end owners at once do not block each other", async () => {
  const stores = Array.from({ length: 4 }, () => createEndedOwnerStore(postgres().db));
  const owners = Array.from({ length: 10 }, (_, at) => `user_${at}`);
  const old = Date.now() - 3_600_000;
  const ends = stores.flatMap((store) => owners.map((owner) => store.end(owner, old)));
  await Promise.all(ends);
  expect(await stores[0]?.ended()).toEqual(new Map());
});

test("tries of several processes count together, however many come at once", async () => {
  const { pool } = postgres();
  const counters = [new SignInTries(pool), new SignInTries(pool)];
  const pair = { kind: "pair", name: "192.0.2.1 ada@example.com" } as const;
  const network = { kind: "network", name: "192.0.2.1" } as const;
  const waits = await Promise.all(
    Array.from({ length: 30 }, (_, at) => {
      const order = at % 3 === 0 ? [pair, network] : [network, pair];
      return counters[at % 2]?.count(order, 1_000);
    }),
  );
  expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
  expect(waits.filter((wait) => wait === 60_000)).toHaveLength(20);
  // Those that were refused count nowhere.
  expect(await counters[0]?.waitMs(network, 1_000)).toBe(0);
  await counters[1]?.succeed({ forget: [pair], giveBack: [network] });
  expect(await counters[0]?.count([pair, network], 1_000)).toBe(0);
  const { rows } = await pool.query("select full_at_ms from sign_in_tries order by kind");
  expect(rows).toEqual([{ full_at_ms: 1_000 + 10 * 20_000 }, { full_at_ms: 61_000 }]);
});

test("who is refused leaves no row, no name is readable, and old rows are erased", async () => {
  const { pool } = postgres();
  const counter = new SignInTries(pool, 3);
  const network = { kind: "network", name: "192.0.2.1" } as const;
  for (let at = 0; at < 50; at++) await counter.count([network], 0);
  for (let at = 0; at < 5; at++) {
    const pair = { kind: "pair", name: `192.0.2.1 ${at}@example.com` } as const;
    expect(await counter.count([pair, network], 0)).toBe(20_000);
  }
  const names = async () =>
    (await pool.query<{ name: string }>("select name from sign_in_tries")).rows.map(
      ({ name }) => name,
    );
  expect(await names()).toEqual([expect.not.stringContaining("192")]);
  for (let at = 0; at < 6; at++)
    await counter.count([{ kind: "device", name: `browser ${at}` }], at);
  expect(await names()).toHaveLength(7);
  // A counter erases when it begins, and every so often.
  await new SignInTries(pool, 3).count([network], 10);
  expect(await names()).toHaveLength(3);
  await new SignInTries(pool).count([network], 3_600_000);
  expect(await names()).toHaveLength(1);
});

test("a clock that is set back makes one wait for one failure, not until it is there again", async () => {
  const counter = new SignInTries(postgres().pool);
  const network = { kind: "network", name: "192.0.2.1" } as const;
  const pair = { kind: "pair", name: "192.0.2.1 ada@example.com" } as const;
  const logout = { kind: "logout", name: "192.0.2.1" } as const;
  const aheadMs = 3_600_000;
  expect(await counter.count([pair, network], aheadMs)).toBe(0);
  expect(await counter.count([logout], aheadMs)).toBe(0);
  expect(await counter.count([pair, network], 0)).toBe(60_000);
  expect(await counter.count([pair, network], 60_000)).toBe(0);
  expect(await counter.waitMs(logout, 0)).toBe(20_000);
  expect(await counter.waitMs(logout, 20_000)).toBe(0);
});

test("draining is written with its audit entry, for a node that is known", async () => {
  const { fleet } = await join("eu-1");
  const drain = (name: string) => fleet.setDraining([{ name, audit: auditOf() }], true);
  expect(await drain("eu-9")).toEqual([]);
  expect(await drain("eu-1")).toEqual(["eu-1"]);
  expect(await fleet.tick(load, 0)).toMatchObject({ isDraining: true });
  expect(await fleet.nodes()).toMatchObject([{ name: "eu-1", state: "draining" }]);
  const { pool } = postgres();
  await pool.query("update heartbeats set renewed_at = renewed_at - interval '1 hour'");
  expect(await fleet.nodes()).toMatchObject([{ state: "silent", isDraining: true }]);
});

test("who drains a node waits until it has heard of it", async () => {
  const { fleet } = await join("eu-1");
  let isDone = false;
  const draining = fleet
    .setDraining([{ name: "eu-1", audit: auditOf() }], true)
    .then(() => (isDone = true));
  while (!(await fleet.tick({ ...load, isDraining: false }, 0)).isDraining);
  expect(isDone).toBe(false);
  await fleet.tick({ ...load, isDraining: true }, 0);
  await draining;
});

test("a machine is refused while another one runs by its name, with workers or without", async () => {
  const { fleet } = await join("vm");
  await expect(join("vm/1", "other/1")).rejects.toThrow("Another node named vm uses this database");
  // The same machine, started with workers before the first run was given up.
  const worker = await join("vm/1", "vm/1");
  await fleet.leave();
  await expect(join("vm", "other")).rejects.toThrow("Another node named vm/1 uses this database");
  await expect(join("vm/2", "other/2")).rejects.toThrow("Another node named vm/1 uses");
  await join("vm/2");
  await join("vm-2", "other");
  await worker.fleet.leave();
});

test("a worker that starts again on a drained machine is drained; a machine that does is not", async () => {
  const [one, other] = [await join("vm/1"), await join("vm/2")];
  const nodes = ["vm/1", "vm/2"].map((name) => ({ name, audit: auditOf() }));
  await Promise.all([
    one.fleet.setDraining(nodes, true),
    one.fleet.tick({ ...load, isDraining: true }, 0),
    other.fleet.tick({ ...load, isDraining: true }, 0),
  ]);
  const again = await join("vm/2");
  expect(await again.fleet.tick(load, 0)).toMatchObject({ isDraining: true });
  await one.fleet.leave();
  await again.fleet.leave();
  const first = await join("vm/1");
  expect(await first.fleet.tick(load, 0)).toMatchObject({ isDraining: false });
});
