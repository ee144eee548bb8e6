/** The record of rejected calls while SQLite itself cannot write. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { readMetrics } from "../../replies/metrics-text.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { hello, waitUntil } from "../../setup/money-home.ts";

const failing = "cannot record rejected requests";

let disk: FaultyStore;
let gateway: TestGateway;
let lines: string[];
beforeEach(async () => {
  disk = new FaultyStore();
  lines = [];
  gateway = await startTestGateway({
    open: disk.open,
    creditUsd: "0",
    writeLog: (line) => void lines.push(line),
    environment: { SVC_LOG_LEVEL: "info" },
  });
});
afterEach(() => gateway.stop());

const refuse = async (key = gateway.key) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const wrong = { ...hello, temperature: 9 };
  const reply = await gateway.call("/chat/completions", wrong, { headers });
  const { error } = await reply.json();
  return `${reply.status} ${error.code}`;
};
const warnings = () => lines.filter((line) => line.includes(failing)).length;
const recorded = () => {
  const reader = new Database(join(gateway.dataDir, "svc.db"), { readonly: true });
  try {
    return reader
      .query<{ sum: number | null }, []>("select sum(count) as sum from rejections")
      .get()?.sum;
  } finally {
    reader.close();
  }
};

test("on a read-only disk calls are refused as before, one line is logged, and none is lost", async () => {
  expect(await refuse()).toBe("400 invalid_request");
  await waitUntil("the first record", async () => recorded() === 1);
  disk.setReadOnly(true);
  for (let at = 0; at < 30; at++) expect(await refuse()).toBe("400 invalid_request");
  await waitUntil("a line in the log", async () => warnings() === 1);
  // Further tries fail silently.
  await Bun.sleep(4_500);
  expect([warnings(), recorded()]).toEqual([1, 1]);
  disk.setReadOnly(false);
  await waitUntil("all records", async () => recorded() === 31);
});

test("while another process holds the database, calls are refused and recorded afterwards", async () => {
  const holder = new Database(join(gateway.dataDir, "svc.db"));
  holder.run("begin immediate");
  try {
    for (let at = 0; at < 5; at++) expect(await refuse()).toBe("400 invalid_request");
  } finally {
    holder.run("rollback");
    holder.close();
  }
  await waitUntil("all records", async () => recorded() === 5);
});

test("what memory cannot hold is dropped and counted in the metrics; the rest is recorded", async () => {
  const { operations } = gateway.server;
  const dropped = async () =>
    readMetrics(await (await fetch(`${gateway.platformUrl}/metrics`)).text()).sum(
      "svc_rejection_records_dropped_total",
    );
  expect(await dropped()).toBe(0);
  // Slow, since the bound is that of the server: 2,000 keys of one account with something to write.
  const keys: string[] = [];
  for (let at = 0; at < 2_010; at++)
    keys.push((await operations.keys.create({ account: gateway.account })).key);
  disk.setReadOnly(true);
  for (const key of keys) expect(await refuse(key)).toBe("400 invalid_request");
  const lost = await dropped();
  expect(lost).toBeGreaterThanOrEqual(10);
  disk.setReadOnly(false);
  await waitUntil("the others", async () => recorded() === keys.length - lost);
});
