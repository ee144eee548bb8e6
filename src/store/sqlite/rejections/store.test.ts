import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { idTimeMs, newId } from "../../../base/ids.ts";
import {
  mostCounted,
  otherNames,
  type Rejection,
  type RejectionBounds,
  type RejectionCount,
} from "../../../rejections/rejection.ts";
import { countRejections, readRejected, readRejections } from "../../sql/rejections/reading.ts";
import type { Sqlite } from "../sqlite.ts";
import { createRejectionStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-rejections-"));
afterAll(() => rmSync(folder, { recursive: true }));

const noonMs = Date.parse("2027-03-04T12:00:00Z");
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const bounds = { rows: 1_000, rowsOfAccount: 1_000, counts: 1_000, countsOfAccount: 1_000 };

let sqlite: Sqlite;
beforeEach(() => {
  sqlite = openEmptyDatabase(folder);
  sqlite.raw.run("insert into accounts (id, name, created_at_ms) values ('acct_1', 'a', 0)");
  sqlite.raw.run(
    "insert into keys (id, account_id, name, hash, hint, created_at_ms) values ('key_1', 'acct_1', '', 'h', '', 0)",
  );
});

function open(given: Partial<RejectionBounds> = {}) {
  const { db, raw } = sqlite;
  return createRejectionStore({
    db,
    raw,
    bounds: { ...bounds, ...given },
    async exclusive(work, then) {
      then(raw.transaction(work)());
    },
  });
}
type Store = ReturnType<typeof open>;

const rowOf = (rest: Partial<Rejection> & { readonly atMs?: number } = {}): Rejection => {
  const { atMs = noonMs, ...more } = rest;
  return {
    id: newId("req", atMs),
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    endpoint: "chat",
    status: 402,
    code: "insufficient_quota",
    message: "Not enough credit.",
    reason: "",
    count: 1,
    ...more,
  };
};
const countOf = (rest: Partial<RejectionCount> = {}): RejectionCount => ({
  minuteMs: noonMs,
  accountId: "acct_1",
  keyId: "key_1",
  model: "m",
  code: "insufficient_quota",
  status: 402,
  count: 1,
  ...rest,
});
const add = (store: Store, rows: readonly Rejection[], counts: readonly RejectionCount[] = []) =>
  store.add({ rows, counts, keys: [] });
const eraseAll = async (store: Store, nowMs = noonMs) => {
  let steps = 0;
  while (await store.erase(nowMs)) if (++steps > 1_000) throw new Error("it never ends");
};
const page = (query: Partial<Parameters<typeof readRejections>[1]> = {}) =>
  readRejections(sqlite.raw, { limit: 1_000, ...query });
const counted = (query: Partial<Parameters<typeof readRejected>[1]> = {}) =>
  readRejected(sqlite.raw, {
    fromMs: 0,
    toMs: noonMs + dayMs,
    grain: "hour",
    by: "none",
    names: [],
    ...query,
  });

test("pages are newest first, follow each other without a gap, and keep to every filter", async () => {
  const store = open();
  const rows = Array.from({ length: 25 }, (_, at) =>
    rowOf({
      atMs: noonMs + at,
      accountId: at % 2 === 0 ? "acct_1" : "acct_2",
      keyId: `key_${at % 3}`,
      model: at % 5 === 0 ? "" : "m",
      endpoint: at % 4 === 0 ? "models" : "chat",
      ...(at % 6 === 0 ? { status: 429, code: "rate_limit_exceeded" } : {}),
    }),
  );
  await add(store, rows);
  const all = rows.toReversed();
  expect(page().rejections).toEqual(all);
  const seen: Rejection[] = [];
  for (let after: string | undefined, pages = 0; pages < 4; pages++) {
    const next = page({ limit: 7, after });
    seen.push(...next.rejections);
    ({ after } = next);
    expect(after === undefined).toBe(pages === 3);
  }
  expect(seen).toEqual(all);
  const filters: readonly [Parameters<typeof page>[0], (row: Rejection) => boolean][] = [
    [{ accountId: "acct_2" }, ({ accountId }) => accountId === "acct_2"],
    [{ keyId: "key_2" }, ({ keyId }) => keyId === "key_2"],
    [{ model: "m" }, ({ model }) => model === "m"],
    [{ endpoint: "models" }, ({ endpoint }) => endpoint === "models"],
    [{ code: "rate_limit_exceeded" }, ({ status }) => status === 429],
    [
      { status: 402, accountId: "acct_1" },
      (row) => row.status === 402 && row.accountId === "acct_1",
    ],
    [{ idPrefix: rows[3]?.id }, ({ id }) => id === rows[3]?.id],
    [{ idPrefix: rows[3]?.id.slice(0, -2) }, ({ id }) => id === rows[3]?.id],
    [{ fromMs: noonMs + 20 }, ({ id }) => idTimeMs(id) >= noonMs + 20],
    [{ toMs: noonMs + 3 }, ({ id }) => idTimeMs(id) < noonMs + 3],
  ];
  for (const [query, isRight] of filters) {
    const found = page(query).rejections;
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(all.filter(isRight));
    expect(countRejections(sqlite.raw, query ?? {})).toEqual({
      count: found.length,
      isCapped: false,
    });
  }
});

test("a total counts calls, and says where it looked at no more", async () => {
  await add(open(), [rowOf({ count: 5 }), rowOf(), rowOf({ accountId: "acct_2" })]);
  expect(countRejections(sqlite.raw, {})).toEqual({ count: 7, isCapped: false });
  expect(countRejections(sqlite.raw, { accountId: "acct_1" })).toMatchObject({ count: 6 });
  sqlite.raw.run(`insert into rejections with recursive n(i) as
      (values (1) union all select i + 1 from n where i < ${mostCounted})
    select 'req_0' || i, 'acct_1', 'key_1', 'm', 'chat', 402, 'insufficient_quota', '', '', 1 from n`);
  expect(countRejections(sqlite.raw, {})).toEqual({ count: mostCounted + 4, isCapped: true });
});

test("a row that is written again adds its count", async () => {
  const store = open();
  const row = rowOf({ count: 5 });
  await add(store, [row]);
  await add(store, [{ ...row, count: 7, model: "" }]);
  expect(page().rejections).toEqual([{ ...row, count: 12, model: "" }]);
});

test("counts are kept by minute for an hour and by hour for half a year", async () => {
  const store = open();
  const times = [0, 1, 59, 61, 120, 60 * 24 * 30, 60 * 24 * 180, 60 * 24 * 182];
  await add(
    store,
    [],
    times.map((minutes) => countOf({ minuteMs: noonMs - minutes * minuteMs })),
  );
  await eraseAll(store);
  const minutes = counted({ grain: "minute" }).map(({ startMs }) => (noonMs - startMs) / minuteMs);
  expect(minutes).toEqual([61, 59, 1, 0]);
  const hours = counted().map(({ startMs, count }) => [(noonMs - startMs) / hourMs, count]);
  expect(hours).toEqual([
    [180 * 24, 1],
    [30 * 24, 1],
    [2, 2],
    [1, 2],
    [0, 1],
  ]);
});

test("by a group, every name that is asked for and the most frequent are counted, the others as one", async () => {
  const store = open();
  const counts = Array.from({ length: 40 }, (_, at) =>
    countOf({ keyId: `key_${at}`, count: at + 1 }),
  );
  await add(store, [], counts);
  const found = counted({ by: "key", names: ["key_0", "key_1"] });
  const names = new Map(found.map(({ name, count }) => [name, count]));
  expect(names.size).toBe(21);
  expect([names.get("key_0"), names.get("key_1"), names.get("key_39")]).toEqual([1, 2, 40]);
  expect([names.has("key_22"), names.has("key_21")]).toEqual([true, false]);
  expect(names.get(otherNames)).toBe(250);
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(820);
  expect(counted({ by: "account" })).toEqual([{ startMs: noonMs, name: "acct_1", count: 820 }]);
  expect(counted({ keyId: "key_9" })).toEqual([{ startMs: noonMs, name: "", count: 10 }]);
});

describe("what is too much or too old goes, the oldest first", () => {
  test("rows after 30 days", async () => {
    const store = open();
    const old = Array.from({ length: 1_200 }, (_, at) => rowOf({ atMs: noonMs - 31 * dayMs + at }));
    const kept = [rowOf({ atMs: noonMs - 29 * dayMs }), rowOf()];
    await add(store, [...old, ...kept]);
    expect(await store.erase(noonMs)).toBe(true);
    // In steps: no transaction holds up the calls for long.
    expect(page().rejections.length).toBe(702);
    await eraseAll(store);
    expect(page().rejections).toEqual(kept.toReversed());
  });

  test("of one account, without touching another's", async () => {
    const store = open({ rowsOfAccount: 10, countsOfAccount: 5 });
    const rows = Array.from({ length: 50 }, (_, at) => rowOf({ atMs: noonMs - 50 + at }));
    const other = rowOf({ accountId: "acct_2", atMs: noonMs - 1_000 });
    const counts = Array.from({ length: 20 }, (_, at) =>
      countOf({ minuteMs: noonMs - at * hourMs, keyId: `key_${at}` }),
    );
    await add(store, [...rows, other], [...counts, countOf({ accountId: "acct_2" })]);
    await eraseAll(store);
    expect(page({ accountId: "acct_1" }).rejections).toEqual(rows.slice(-10).toReversed());
    expect(page({ accountId: "acct_2" }).rejections).toEqual([other]);
    expect(counted({ accountId: "acct_1" }).length).toBe(5);
    expect(counted({ accountId: "acct_2" }).length).toBe(1);
  });

  test("of all accounts together, also what an earlier process left", async () => {
    const rows = Array.from({ length: 700 }, (_, at) =>
      rowOf({ atMs: noonMs - 700 + at, accountId: `acct_${at % 9}` }),
    );
    await add(open(), rows);
    await eraseAll(open({ rows: 60 }));
    expect(page().rejections).toEqual(rows.slice(-60).toReversed());
  });

  test("in steps, between which an account that is within its bounds loses nothing", async () => {
    const rows = Array.from({ length: 1_400 }, (_, at) =>
      rowOf({ atMs: noonMs - 1_400 + at, accountId: `acct_${at % 9}` }),
    );
    const store = open({ rows: 60 });
    await add(store, rows);
    expect(await store.erase(noonMs)).toBe(true);
    const own = rows.filter(({ accountId }) => accountId === "acct_3").slice(-6);
    await add(store, [], [countOf({ accountId: "acct_3" })]);
    await eraseAll(store);
    expect(page().rejections).toEqual(rows.slice(-60).toReversed());
    expect(page({ accountId: "acct_3" }).rejections.slice(0, 6)).toEqual(own.toReversed());
  });
});

test("the last hour of a key is counted by reason, most frequent first; its last rejection is kept", async () => {
  const store = open();
  await store.add({
    rows: [],
    counts: [
      countOf({ minuteMs: noonMs - 5 * minuteMs, count: 3 }),
      countOf({ minuteMs: noonMs - 2 * minuteMs, count: 9, model: "other" }),
      countOf({ status: 429, code: "rate_limit_exceeded", count: 20 }),
      countOf({ minuteMs: noonMs - 2 * hourMs, count: 500 }),
      countOf({ accountId: "acct_2", keyId: "key_2", count: 7 }),
    ],
    keys: [
      { keyId: "key_1", lastMs: noonMs },
      { keyId: "key_1", lastMs: noonMs - 5 },
      { keyId: "key_temporary", lastMs: noonMs },
    ],
  });
  const fromMs = noonMs - hourMs;
  expect(await store.recent({ accountId: "acct_1", fromMs })).toEqual([
    { keyId: "key_1", status: 429, code: "rate_limit_exceeded", count: 20 },
    { keyId: "key_1", status: 402, code: "insufficient_quota", count: 12 },
  ]);
  expect(await store.recent({ fromMs })).toHaveLength(3);
  await eraseAll(store, noonMs + 400 * dayMs);
  expect(await store.lastRejections()).toEqual(new Map([["key_1", noonMs]]));
});
