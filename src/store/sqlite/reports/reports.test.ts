import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { copyEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import { noonMs, receiptOf, write } from "../../../../test/store/ledger-samples.ts";
import { usageOf } from "../../../../test/store/plain-reports.ts";
import { newId } from "../../../base/ids.ts";
import { Minutes, minuteMs } from "../../../ledger/minutes.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { Store } from "../../store.ts";
import { openSqlite } from "../sqlite.ts";
import { createStore } from "../store.ts";
import type { SqliteReportOptions } from "./reports.ts";

const root = useFolder();

let path: string;
let store: Store;
beforeEach(async () => {
  path = join(mkdtempSync(join(root, "db-")), "svc.db");
  copyEmptyDatabase(path);
  store = await createStore(openSqlite(path), "x");
  await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
});
afterEach(() => store.close());

const open = (options: Partial<SqliteReportOptions> = {}) =>
  store.openReports({
    clock: { nowMs: () => noonMs },
    flush: async () => {},
    minutes: new Minutes(),
    ...options,
  });

const at = (ms: number, rest: Partial<Receipt> = {}) =>
  receiptOf({ id: newId("req", ms), charged: 0n, ...rest });
const lastHour = { fromMs: noonMs - 60 * minuteMs, toMs: noonMs + 1, by: "key" } as const;

test("minutes have what an earlier process wrote and what this one did, each once", async () => {
  const startMs = noonMs - 10 * minuteMs + 5_000;
  const before = [59, 40, 11, 10].map((ago, place) =>
    at(noonMs - ago * minuteMs, { keyId: `key_${place % 2}`, durationMs: 30 * place }),
  );
  const since = [startMs, noonMs].map((ms) => at(ms, { keyId: "key_1" }));
  const minutes = new Minutes();
  let nowMs = startMs;
  const reports = open({ minutes, clock: { nowMs: () => nowMs } });
  store.ledger.watch((receipt) => minutes.add(receipt));
  await store.ledger.commit(since.map((receipt) => write(receipt)));
  store.ledger.watch(() => {});
  await store.ledger.commit(before.map((receipt) => write(receipt)));
  nowMs = noonMs;
  const query = { ...lastHour, grain: "minute" } as const;
  const expected = usageOf([...before, ...since], query);
  expect(await Promise.all([reports.usage(query), reports.usage(query)])).toEqual([
    expected,
    expected,
  ]);
  await reports.close();
});

test("where the minutes before the start could not be read, the next question reads them", async () => {
  const earlier = [50, 7].map((ago) => at(noonMs - ago * minuteMs));
  await store.ledger.commit(earlier.map((receipt) => write(receipt)));
  const reports = open({ limitMs: 120_000 });
  const query = { ...lastHour, grain: "minute" } as const;
  renameSync(path, `${path}.away`);
  await expect(reports.usage(query)).rejects.toThrow("The ledger could not be read");
  renameSync(`${path}.away`, path);
  const expected = usageOf(earlier, query);
  expect(expected.length).toBe(2);
  expect(await reports.usage(query)).toEqual(expected);
  expect(await reports.usage(query)).toEqual(expected);
  await reports.close();
});

test("sums are flushed once for all who ask within a second, and a failure is no failure of theirs", async () => {
  let flushes = 0;
  let nowMs = 0;
  const { promise, reject } = Promise.withResolvers<void>();
  const reports = open({
    flush() {
      flushes++;
      return promise;
    },
    elapsedMs: () => nowMs,
  });
  const query = { ...lastHour, grain: "hour" } as const;
  const asked = [reports.usage(query), reports.usage(query)];
  reject(new Error("disk full"));
  expect(await Promise.all(asked)).toEqual([[], []]);
  nowMs = 999;
  expect(await reports.usage(query)).toEqual([]);
  expect(flushes).toBe(1);
  nowMs = 1_000;
  expect(await reports.usage(query)).toEqual([]);
  expect(flushes).toBe(2);
  await reports.close();
});

test("catching up reports since when sums lack receipts, of one account or of any", async () => {
  const missing = new Map([["acct_1", 70]]);
  let nowMs = 0;
  const reports = open({
    flush: async () => missing.clear(),
    unwrittenSinceMs: (accountId) =>
      accountId === undefined ? missing.values().next().value : missing.get(accountId),
    elapsedMs: () => nowMs,
  });
  expect(await reports.catchUp("acct_1")).toBeUndefined();
  missing.set("acct_1", 70);
  nowMs = 999;
  expect(await reports.catchUp("acct_1")).toBe(70);
  expect(await reports.catchUp(undefined)).toBe(70);
  expect(await reports.catchUp("acct_2")).toBeUndefined();
  nowMs = 1_000;
  expect(await reports.catchUp("acct_1")).toBeUndefined();
  await reports.close();
});

test("a flush that takes long is followed by a pause of at most five seconds", async () => {
  let nowMs = 0;
  let flushes = 0;
  const reports = open({
    async flush() {
      flushes++;
      nowMs += 1_000;
    },
    elapsedMs: () => nowMs,
  });
  await reports.catchUp(undefined);
  nowMs = 5_999;
  await reports.catchUp(undefined);
  expect(flushes).toBe(1);
  nowMs = 6_000;
  await reports.catchUp(undefined);
  expect(flushes).toBe(2);
  await reports.close();
});

test("a reader that is closed leaves nothing open, and answers no more", async () => {
  const reports = open();
  expect(await reports.receipt("req_none")).toBeUndefined();
  await reports.close();
  await expect(reports.receipt("req_none")).rejects.toThrow("shutting down");
  const other = await createStore(openSqlite(path), "x");
  await other.close();
  await store.close();
  // The last connection takes the log away.
  expect(existsSync(`${path}-wal`)).toBe(false);
});

describe("the thread", () => {
  /** Answers what it is asked for, but dies of some questions and never answers others. */
  function odd(): URL {
    const file = join(root, "odd-worker.ts");
    writeFileSync(
      file,
      `import { parentPort } from "node:worker_threads";
parentPort.on("message", (question) => {
  if (question.id === "dies") process.exit(1);
  if (question.id === "throws") throw new Error("odd");
  if (question.id !== "silent") parentPort.postMessage({ receipt: question.id }, []);
});`,
    );
    return pathToFileURL(file);
  }
  const answered = (id: string): unknown => id;

  test.each(["dies", "throws"])(
    "that %s fails one question, and the next has another",
    async (id) => {
      const reports = open({ workerUrl: odd(), limitMs: 120_000 });
      const [lost, next] = [reports.receipt(id), reports.receipt("next")];
      await expect(lost).rejects.toThrow("exited");
      expect(await next).toEqual(answered("next") as Receipt);
      expect(await reports.receipt("later")).toEqual(answered("later") as Receipt);
      await reports.close();
    },
  );

  test("that does not answer in time is given up, and no question waits forever", async () => {
    const reports = open({ workerUrl: odd(), limitMs: 200 });
    await expect(reports.receipt("silent")).rejects.toThrow("took too long");
    await reports.close();
  });

  test("has a bound on questions in line", async () => {
    const reports = open({ workerUrl: odd() });
    const asked = Array.from({ length: 64 }, () => reports.receipt("silent"));
    await expect(reports.receipt("one more")).rejects.toThrow("Too many");
    const ends = Promise.allSettled(asked);
    await reports.close();
    expect((await ends).every(({ status }) => status === "rejected")).toBe(true);
  });

  test("does not keep the process alive", async () => {
    const modules = ["reports.ts", "../../../ledger/minutes.ts"].map((name) =>
      JSON.stringify(join(import.meta.dir, name)),
    );
    const code = `import { SqliteReports } from ${modules[0]}; import { Minutes } from ${modules[1]};
const reports = new SqliteReports(${JSON.stringify(path)}, { clock: { nowMs: () => 1 }, flush: async () => {}, minutes: new Minutes() });
await reports.receipt("x").then(() => console.log("answered"));`;
    const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", timeout: 120_000 });
    expect([await new Response(child.stdout).text(), await child.exited]).toEqual([
      "answered\n",
      0,
    ]);
  });
});
