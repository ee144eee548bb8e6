import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type NodesHome, openNodes } from "../../../test/setup/among-nodes.ts";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { joinOperator, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import type { NodeView } from "./schemas.ts";

let nodes: NodesHome;
let gateway: TestGateway;
let operator: Visitor;
beforeAll(async () => {
  nodes = await openNodes();
  gateway = await startTestGateway({ open: nodes.opener("eu-1/1") });
  operator = await joinOperator(gateway);
});
// The other nodes were never there.
afterEach(async () => {
  const { pool } = nodes.postgres;
  await pool.query("delete from leases");
  await pool.query("delete from audit");
  await pool.query("delete from nodes where name <> 'eu-1/1'");
  await pool.query(
    "delete from heartbeats using epochs where heartbeats.epoch = epochs.id and node <> 'eu-1/1'",
  );
  await pool.query("delete from epochs where node <> 'eu-1/1'");
});
afterAll(async () => {
  await gateway.stop();
  await nodes.remove();
});

const list = async (): Promise<readonly NodeView[]> =>
  (await operator.ask("GET /api/nodes")).body.nodes;
const states = async () => (await list()).map(({ name, state }) => `${name} ${state}`);
const readyz = async () => (await fetch(`${gateway.origin}/readyz`)).status;
const change = async (what: "drain" | "resume", name: string) => {
  const route = `POST /api/nodes/:name/${what}` as const;
  const { status, body } = await operator.ask(route, { params: { name } });
  return status === 200 ? body.nodes : `${status} ${body.error.message}`;
};

test("nodes are listed with their load and what they hold", async () => {
  const { pool } = nodes.postgres;
  const other = await nodes.join({ name: "eu-2", version: "1.2.3" });
  await other.tick({ calls: 7, memoryMb: 90.4, cpuMs: 254 }, 0);
  await pool.query("insert into accounts (id, name, created_at_ms) values ('acct_1', 'a', 0)");
  await pool.query(
    "insert into leases select 'acct_1', id, 2500000000, 500000000 from epochs where node = 'eu-2'",
  );
  const [mine, theirs] = await list();
  expect(mine).toMatchObject({ name: "eu-1/1", state: "running", leases: 0, leased_usd: "0.00" });
  expect(theirs).toEqual({
    name: "eu-2",
    machine: "eu-2",
    state: "running",
    is_draining: false,
    version: "1.2.3",
    address: "http://192.0.2.1:8080",
    pid: 1,
    started_at: expect.any(String),
    last_seen_at: expect.any(String),
    unseen_s: 0,
    uptime_s: 0,
    load: { calls: 7, memory_mb: 90, cpu_percent: 25 },
    leases: 1,
    leased_usd: "2.00",
  });
  await pool.query(
    "update heartbeats set renewed_at = renewed_at - interval '1 hour' where epoch = (select id from epochs where node = 'eu-2')",
  );
  expect((await list())[1]).toMatchObject({ state: "silent", unseen_s: 3600 });
});

test("a node that has stopped is listed for a day", async () => {
  const other = await nodes.join({ name: "eu-2" });
  await other.leave();
  expect((await list())[1]).toMatchObject({ state: "stopped", uptime_s: null, load: null });
  const { pool } = nodes.postgres;
  await pool.query(
    "update heartbeats set renewed_at = renewed_at - interval '25 hours' where epoch = (select id from epochs where node = 'eu-2')",
  );
  expect(await states()).toEqual(["eu-1/1 running"]);
});

test("a machine is drained with all its workers, each with an audit entry, and resumed", async () => {
  await nodes.join({ name: "eu-1/2" });
  await nodes.join({ name: "eu-10" });
  expect(await change("drain", "eu-1")).toEqual(["eu-1/1", "eu-1/2"]);
  // Whoever drained it looks at it next.
  expect(await readyz()).toBe(503);
  expect(await change("drain", "eu-1")).toEqual([]);
  expect(await states()).toEqual(["eu-1/1 draining", "eu-1/2 draining", "eu-10 running"]);
  expect(await change("resume", "eu-1")).toEqual(["eu-1/1", "eu-1/2"]);
  expect(await readyz()).toBe(200);
  const { rows } = await nodes.postgres.pool.query("select action, subject from audit order by id");
  expect(rows.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    "node.drain eu-1/1",
    "node.drain eu-1/2",
    "node.resume eu-1/1",
    "node.resume eu-1/2",
  ]);
});

test("an account page asks every node for its sums, and shows how far those of a slow one reach", async () => {
  const other = await nodes.join({ name: "eu-2" });
  const asOf = "2026-03-15T14:20:31Z";
  const load = { calls: 0, memoryMb: 1, cpuMs: 1, sumsToMs: Date.parse(asOf) };
  const { reports } = await other.tick(load, 0);
  const { id } = await gateway.server.operations.accounts.create({ name: "acme" });
  const params = { account: id };
  const page = operator.ask("GET /api/accounts/:account/details", { params });
  expect((await page).body).toMatchObject({ is_complete: false, as_of: asOf });
  expect((await other.tick(load, 0)).reports).toBeGreaterThan(reports);
});

test("a worker is not drained or resumed alone, because it shares its port", async () => {
  const sentence = (verb: string) =>
    `409 eu-1/1 shares its port with the other workers of eu-1: ${verb} eu-1, which stands for all of them.`;
  expect(await change("drain", "eu-1/1")).toBe(sentence("drain"));
  expect(await change("resume", "eu-1/1")).toBe(sentence("resume"));
  expect(await states()).toEqual(["eu-1/1 running"]);
});

test("what does not run cannot be drained", async () => {
  await (await nodes.join({ name: "eu-2" })).leave();
  expect(await change("drain", "eu-2")).toBe(
    '409 Node "eu-2" has stopped. It takes calls again when it starts.',
  );
  expect(await change("drain", "eu-3")).toBe('404 Node "eu-3" does not exist.');
});

describe("with SQLite", () => {
  const { operator: visitor } = usePlatform({ isShared: true });

  test("there are no nodes, and one sentence tells how to run several", async () => {
    expect((await visitor.ask("GET /api/nodes")).body).toEqual({ is_shared: false, nodes: [] });
    const { status, body } = await visitor.ask("POST /api/nodes/:name/drain", {
      params: { name: "eu-1" },
    });
    expect(status).toBe(409);
    expect(body.error.message).toContain("set SVC_DATABASE_URL to a PostgreSQL database");
  });
});
