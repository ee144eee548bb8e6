/** The record of rejected calls while SQLite itself cannot write. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { monotonicMs } from "../../../src/base/clock.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { readMetrics } from "../../replies/metrics-text.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { hello, waitUntil } from "../../setup/money-home.ts";

let disk: FaultyStore;
let gateway: TestGateway;
/** The bound counts what is refused within one minute. */
let stoppedAtMs: number | undefined;
beforeAll(async () => {
  disk = new FaultyStore();
  gateway = await startTestGateway({
    open: disk.open,
    creditUsd: "0",
    clock: { nowMs: () => stoppedAtMs ?? Date.now(), elapsedMs: monotonicMs },
  });
});
afterAll(() => gateway.stop());

const wrong = {
  invalid_request: { temperature: 9 },
  model_not_allowed: { model: "no-such-model" },
  insufficient_quota: {},
};
async function refuse(code: keyof typeof wrong = "invalid_request", key = gateway.key) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = { ...hello, ...wrong[code] };
  const reply = await gateway.call("/chat/completions", body, { headers });
  expect((await reply.json()).error.code).toBe(code);
}
/** Calls that the database has a record of. */
const recorded = () => {
  const reader = new Database(join(gateway.dataDir, "svc.db"), { readonly: true });
  try {
    const sum = "select coalesce(sum(count), 0) as sum from rejections";
    return reader.query<{ sum: number }, []>(sum).get()?.sum ?? 0;
  } finally {
    reader.close();
  }
};

test("on a read-only disk calls are refused as before, and none is lost", async () => {
  disk.setReadOnly(true);
  for (let at = 0; at < 30; at++) await refuse();
  expect(recorded()).toBe(0);
  disk.setReadOnly(false);
  await waitUntil("all records", () => recorded() === 30);
});

test("while another process holds the database, calls are refused and recorded afterwards", async () => {
  const before = recorded();
  const holder = new Database(join(gateway.dataDir, "svc.db"));
  holder.run("begin immediate");
  try {
    for (let at = 0; at < 5; at++) await refuse();
  } finally {
    holder.run("rollback");
    holder.close();
  }
  await waitUntil("all records", () => recorded() === before + 5);
});

test("what memory cannot hold is dropped and counted in the metrics; the rest is recorded", async () => {
  const dropped = async () =>
    readMetrics(await (await fetch(`${gateway.platformUrl}/metrics`)).text()).sum(
      "svc_rejection_records_dropped_total",
    );
  const before = recorded();
  expect(await dropped()).toBe(0);
  const codes = ["invalid_request", "model_not_allowed", "insufficient_quota"] as const;
  const keys: string[] = [];
  for (let at = 0; at < 670; at++)
    keys.push((await gateway.server.operations.keys.create({ account: gateway.account })).key);
  stoppedAtMs = Date.now();
  disk.setReadOnly(true);
  // The bound is that of the server: 2,000 pairs of a key and a code of one account.
  for (const key of keys) for (const code of codes) await refuse(code, key);
  const lost = await dropped();
  expect(lost).toBeGreaterThanOrEqual(10);
  disk.setReadOnly(false);
  await waitUntil("the others", () => recorded() === before + 2_010 - lost);
});
