import { beforeEach, describe, expect, test } from "bun:test";
import { idTimeMs, newId } from "../base/ids.ts";
import { toShown } from "../gateway/request/find-model.ts";
import { type RefusedCall, RejectionRecorder, rowsEach } from "./recorder.ts";
import type { Rejection, RejectionBatch, RejectionCount } from "./rejection.ts";

const noonMs = Date.parse("2027-03-04T12:00:00Z");
const quota = { code: "insufficient_quota", status: 402, message: "Not enough credit." };
const notAllowed = { code: "model_not_allowed", status: 403, message: "Unknown model." };

let batches: RejectionBatch[];
let failing: boolean;
let recorder: RejectionRecorder;
const store = {
  async add(batch: RejectionBatch) {
    if (failing) throw new Error("the disk is full");
    batches.push(batch);
  },
};
beforeEach(() => {
  batches = [];
  failing = false;
  recorder = new RejectionRecorder(store);
});

function callOf(rest: Partial<RefusedCall> & { readonly keyId?: string } = {}): RefusedCall {
  const { keyId = "key_1", startedMs = noonMs, ...more } = rest;
  return {
    requestId: newId("req", startedMs),
    startedMs,
    endpoint: "chat",
    dialect: "chat",
    key: { id: keyId, accountId: "acct_1" },
    model: { id: "m" },
    askedModel: undefined,
    refusedFor: undefined,
    ...more,
  };
}

/** Rows as the store has them: a row that comes again adds its count. */
function written(): readonly Rejection[] {
  const rows = new Map<string, Rejection>();
  for (const row of batches.flatMap((batch) => batch.rows))
    rows.set(row.id, { ...row, count: row.count + (rows.get(row.id)?.count ?? 0) });
  return [...rows.values()];
}
const counts = (): readonly RejectionCount[] => batches.flatMap((batch) => batch.counts);
const total = (of: readonly { readonly count: number }[]) =>
  of.reduce((sum, { count }) => sum + count, 0);

test("a row of several has the reason that all of them share, or none", async () => {
  const add = (keyId: string, refusedFor: RefusedCall["refusedFor"]) =>
    recorder.add(callOf({ keyId, model: undefined, askedModel: "m", refusedFor }), notAllowed);
  for (let at = 0; at < 12; at++) add("key_1", "needs_price");
  for (let at = 0; at < 12; at++) add("key_2", at === 11 ? "not_allowed" : "needs_price");
  recorder.add(callOf({ keyId: "key_3" }), quota);
  await recorder.flush();
  const reasonsOf = (wanted: string) =>
    written()
      .filter(({ keyId }) => keyId === wanted)
      .map(({ reason }) => reason);
  expect(reasonsOf("key_1")).toEqual(Array(11).fill("needs_price"));
  expect(reasonsOf("key_2")).toEqual([...Array(10).fill("needs_price"), ""]);
  expect(reasonsOf("key_3")).toEqual([""]);
});

test("the first ten of a key, code and minute are rows, and one more row counts the others", async () => {
  for (let at = 0; at < 25; at++) recorder.add(callOf({ startedMs: noonMs + at }), quota);
  await recorder.flush();
  for (let at = 0; at < 75; at++) recorder.add(callOf({ startedMs: noonMs + 100 + at }), quota);
  await recorder.flush();
  expect(written().map(({ count }) => count)).toEqual([...Array(rowsEach).fill(1), 90]);
  expect(written().map(({ id }) => idTimeMs(id) - noonMs)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
  expect(written()[10]).toMatchObject({
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    endpoint: "chat",
    ...quota,
  });
  expect(total(counts())).toBe(100);
  expect(batches.at(-1)?.keys).toEqual([{ keyId: "key_1", lastMs: noonMs + 174 }]);
});

test("another key, another code and another minute have ten rows each", async () => {
  for (let at = 0; at < 20; at++) {
    recorder.add(callOf(), quota);
    recorder.add(callOf({ keyId: "key_2" }), quota);
    recorder.add(callOf(), notAllowed);
  }
  for (let at = 0; at < 20; at++) recorder.add(callOf({ startedMs: noonMs + 60_000 }), quota);
  await recorder.flush();
  expect(written().filter(({ count }) => count === 1)).toHaveLength(4 * rowsEach);
  expect(total(written())).toBe(80);
  expect(new Set(counts().map(({ minuteMs }) => minuteMs))).toEqual(
    new Set([noonMs, noonMs + 60_000]),
  );
});

test("a call without a known key is not recorded", async () => {
  recorder.add(callOf({ key: undefined }), { ...quota, code: "invalid_api_key", status: 401 });
  await recorder.flush();
  expect([batches, recorder.dropped]).toEqual([[], 0]);
});

test("a row that stands for several calls names only what they share", async () => {
  const ask = (rest: Partial<RefusedCall>) => recorder.add(callOf(rest), quota);
  for (let at = 0; at < rowsEach; at++) ask({});
  ask({});
  ask({ model: { id: "other" } });
  ask({ endpoint: "embeddings", dialect: undefined });
  await recorder.flush();
  expect(written().at(-1)).toMatchObject({ model: "", endpoint: "", dialect: "", count: 3 });
  expect(counts().map(({ model, count }) => [model, count])).toEqual([
    ["m", 12],
    ["other", 1],
  ]);
});

test("one code with two statuses is recorded under each", async () => {
  for (let at = 0; at < 3; at++) {
    recorder.add(callOf(), notAllowed);
    recorder.add(callOf({ endpoint: "speech" }), { ...notAllowed, status: 400 });
  }
  await recorder.flush();
  expect(counts().map(({ status, count }) => [status, count])).toEqual([
    [403, 3],
    [400, 3],
  ]);
});

test("names and messages are short and hold no secret", async () => {
  const secret = `sk-svc-${"a".repeat(46)}`;
  const foreign = "sk-proj-abcdefghijklmnop";
  recorder.add(callOf({ model: undefined, askedModel: secret }), {
    ...notAllowed,
    message: `Model "${foreign}" or ${secret} does not exist. ${"x".repeat(10_000)}`,
  });
  recorder.add(callOf({ model: undefined, askedModel: "task-model" }), notAllowed);
  await recorder.flush();
  const [row, plain] = written();
  expect(row?.model).toBe("sk-svc-…");
  expect(row?.message).toStartWith('Model "sk-…" or sk-svc-… does not exist.');
  expect(row?.message.length).toBe(500);
  expect(plain?.model).toBe("task-model");
  // Any name may be sent: only those of the catalog are counted apart.
  expect(counts().map(({ model, count }) => [model, count])).toEqual([["", 2]]);
});

test("names and messages cannot forge a line or a direction of text", async () => {
  const askedModel = "m\n200 ok\u001b[2J\u202e\u2028x";
  recorder.add(callOf({ model: undefined, askedModel }), { ...notAllowed, message: askedModel });
  await recorder.flush();
  const shown = "m�200 ok�[2J��x";
  expect(written()).toMatchObject([{ model: shown, message: shown }]);
});

test("a long name does not keep the body that it came in", async () => {
  const sizeBytes = 2_000_000;
  Bun.gc(true);
  const beforeBytes = process.memoryUsage.rss();
  for (let at = 0; at < 100; at++) {
    const asked: string = JSON.parse(`"${at}${"x".repeat(sizeBytes)}"`);
    const keyId = `key_${at % 20}`;
    recorder.add(callOf({ keyId, model: undefined, askedModel: toShown(asked) }), notAllowed);
    recorder.add(callOf({ keyId, model: undefined, askedModel: asked }), {
      ...quota,
      message: asked,
    });
  }
  Bun.gc(true);
  expect(process.memoryUsage.rss() - beforeBytes).toBeLessThan(50 * sizeBytes);
  await recorder.flush();
  expect(total(written())).toBe(200);
});

describe("while the store cannot be written", () => {
  test("what waits is kept, and written once", async () => {
    failing = true;
    for (let at = 0; at < 30; at++) recorder.add(callOf(), quota);
    await expect(recorder.flush()).rejects.toThrow("the disk is full");
    for (let at = 0; at < 5; at++) recorder.add(callOf(), quota);
    failing = false;
    await recorder.flush();
    expect(written().map(({ count }) => count)).toEqual([...Array(rowsEach).fill(1), 25]);
    expect([total(counts()), recorder.dropped]).toEqual([35, 0]);
  });

  test("the oldest is dropped and counted, so that memory stays bounded", async () => {
    const recorder = new RejectionRecorder(store, { buckets: 4, bucketsOfAccount: 4 });
    failing = true;
    for (let minute = 0; minute < 10; minute++)
      for (let at = 0; at < 6; at++)
        recorder.add(callOf({ startedMs: noonMs + minute * 60_000, keyId: `key_${at}` }), quota);
    failing = false;
    await recorder.flush();
    expect(counts()).toHaveLength(4);
    expect(total(counts()) + recorder.dropped).toBe(60);
    expect(Math.max(...counts().map(({ minuteMs }) => minuteMs))).toBe(noonMs + 9 * 60_000);
  });
});

test("beyond the rows that may wait, calls are counted and none is lost", async () => {
  const recorder = new RejectionRecorder(store, { rows: 15, rowsOfAccount: 12 });
  for (let key = 0; key < 5; key++)
    for (let at = 0; at < 8; at++) recorder.add(callOf({ keyId: `key_${key}` }), quota);
  await recorder.flush();
  expect(written().filter(({ count }) => count === 1).length).toBeLessThanOrEqual(12 + 5);
  expect([total(written()), total(counts()), recorder.dropped]).toEqual([40, 40, 0]);
});

test("one account cannot take the room of the others", () => {
  const recorder = new RejectionRecorder(store, { buckets: 100, bucketsOfAccount: 10 });
  for (let key = 0; key < 50; key++) recorder.add(callOf({ keyId: `key_${key}` }), quota);
  expect(recorder.dropped).toBe(40);
  recorder.add(callOf({ key: { id: "key_x", accountId: "acct_2" } }), quota);
  expect(recorder.dropped).toBe(40);
});

test("a write is small, however much waits", async () => {
  for (let key = 0; key < 200; key++)
    for (let at = 0; at < 3; at++) recorder.add(callOf({ keyId: `key_${key}` }), quota);
  await recorder.flush();
  expect(batches.length).toBeGreaterThan(5);
  for (const { rows, counts } of batches) expect(rows.length + 2 * counts.length).toBeLessThan(130);
  expect(total(written())).toBe(600);
});

test("watchers get each row, and what a count has grown by", async () => {
  const seen: number[] = [];
  recorder.watchers.add(({ count }) => void seen.push(count));
  for (let at = 0; at < 15; at++) recorder.add(callOf(), quota);
  await recorder.flush();
  recorder.add(callOf(), quota);
  await recorder.flush();
  expect(seen).toEqual([...Array(rowsEach).fill(1), 5, 1]);
});

test("a clock that is set back does not stop the record", async () => {
  for (let at = 0; at < 20; at++) recorder.add(callOf(), quota);
  for (let at = 0; at < 3; at++) recorder.add(callOf({ startedMs: noonMs - 3 * 3_600_000 }), quota);
  await recorder.flush();
  expect(written().filter(({ count }) => count === 1)).toHaveLength(rowsEach + 3);
});
