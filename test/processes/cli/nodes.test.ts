/** `svc nodes`: the gateways that share a database. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodesHome, openNodes } from "../../setup/among-nodes.ts";
import { runToEnd } from "../../setup/command.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let nodes: NodesHome;
let gateway: TestGateway;
let alone: TestGateway;
beforeAll(async () => {
  nodes = await openNodes();
  gateway = await startTestGateway({ open: nodes.opener("eu-1") });
  alone = await startTestGateway();
});
afterAll(async () => {
  await gateway.stop();
  await alone.stop();
  await nodes.remove();
});

const run = (words: string, { dataDir }: TestGateway = gateway) =>
  runToEnd(words.split(" "), { SVC_DATA_DIR: dataDir, SVC_CONFIG: "" });

test("lists the nodes in a table or as JSON", async () => {
  const other = await nodes.join({ name: "eu-2" });
  await other.tick({ calls: 3, memoryMb: 120, cpuMs: 400 }, 0);
  const { pool } = nodes.postgres;
  await pool.query("insert into accounts (id, name, created_at_ms) values ('acct_1', 'a', 0)");
  await pool.query(
    "insert into leases select 'acct_1', id, 2500061200, 500000000 from epochs where node = 'eu-2'",
  );
  await pool.query(
    "update epochs set opened_at = opened_at - interval '26 hours' where node = 'eu-2'",
  );
  const { stdout } = await run("nodes");
  const [heading, first, second] = stdout.split("\n");
  expect(heading?.split(/ {2,}/)).toEqual([
    "name",
    "state",
    "version",
    "address",
    "uptime",
    "calls",
    "cpu",
    "memory",
    "borrowed",
    "seen",
  ]);
  expect(first).toStartWith("eu-1  running");
  expect(second?.split(/ {2,}/)).toEqual([
    "eu-2",
    "running",
    "0.0.0-test",
    "http://192.0.2.1:8080",
    "1 d 2 h",
    "3",
    "40 %",
    "120 MB",
    "2.0001 USD",
    "now",
  ]);
  const json = JSON.parse((await run("nodes --json")).stdout);
  expect(json).toMatchObject({ is_shared: true, nodes: [{ name: "eu-1" }, { name: "eu-2" }] });
});

test("drains and resumes a node", async () => {
  expect((await run("nodes drain eu-1")).stdout).toBe("eu-1: draining\n");
  expect((await run("nodes drain eu-1")).stdout).toBe("Already draining.\n");
  expect((await run("nodes")).stdout).toContain("eu-1  draining");
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503);
  expect((await run("nodes resume eu-1")).stdout).toBe("eu-1: takes calls again\n");
  const unknown = await run("nodes drain eu-9");
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('Node "eu-9" does not exist.');
});

test("with SQLite, one sentence tells how to run several", async () => {
  const sentence =
    "The database is SQLite, so one node runs. To run several, set SVC_DATABASE_URL to a PostgreSQL database.";
  expect((await run("nodes", alone)).stdout).toBe(`${sentence}\n`);
  const drain = await run("nodes drain eu-1", alone);
  expect(drain.code).not.toBe(0);
  expect(drain.stderr).toContain(sentence);
});
