import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type {
  Rejection,
  RejectionBounds,
  RejectionCount,
  RejectionStore,
} from "../../src/rejections/rejection.ts";
import { auditOf } from "./audit-sample.ts";
import { noonMs } from "./ledger-samples.ts";
import { rejectionCountOf, rejectionOf } from "./rejection-samples.ts";
import type { OpenTables } from "./tables-contract.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const bounds = { rows: 1_000, rowsOfAccount: 1_000, counts: 1_000, countsOfAccount: 1_000 };

interface RejectionTables extends OpenTables {
  openRejections(bounds: RejectionBounds): RejectionStore;
}

const add = (
  store: RejectionStore,
  rows: readonly Rejection[],
  counts: readonly RejectionCount[] = [],
) => store.add({ rows, counts, keys: [] });
const eraseAll = async (store: RejectionStore, nowMs = noonMs) => {
  let steps = 0;
  while (await store.erase(nowMs)) if (++steps > 1_000) throw new Error("it never ends");
};

/** What is kept of refused calls, and for how long. */
export function rejectionsContract(name: string, create: () => Promise<RejectionTables>): void {
  describe(`rejections on ${name}`, () => {
    let tables: RejectionTables;
    beforeEach(async () => {
      tables = await create();
      const { accounts, keys } = tables.store;
      await accounts.insert({ id: "acct_1", name: "a", createdAtMs: 0 }, auditOf());
      const key = { id: "key_1", accountId: "acct_1", name: "", hash: "h", hint: "" };
      await keys.insert({ ...key, createdAtMs: 0 }, auditOf());
    });
    afterEach(() => tables.remove());
    const open = (given: Partial<RejectionBounds> = {}) =>
      tables.openRejections({ ...bounds, ...given });
    countTests(open, () => tables);
    boundTests(open, () => tables);
  });
}

type Open = (given?: Partial<RejectionBounds>) => RejectionStore;

/** The newest first. */
async function rowsIn({ db }: OpenTables, accountId?: string): Promise<readonly unknown[]> {
  let query = db.selectFrom("rejections").selectAll().orderBy("id", "desc");
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  return (await query.execute()).map(({ account_id: account, key_id: keyId, reason, ...rest }) => ({
    ...rest,
    accountId: account,
    keyId,
    reason,
  }));
}

/** The oldest first, with the time before noon in the unit of the table. */
async function countsIn(
  { db }: OpenTables,
  grain: "minute" | "hour",
  accountId = "acct_1",
): Promise<readonly (readonly [ago: number, count: number])[]> {
  const [table, unitMs] =
    grain === "minute"
      ? (["rejection_minutes", minuteMs] as const)
      : (["rejection_hours", hourMs] as const);
  const rows = await db
    .selectFrom(table)
    .select(["start_ms", "count"])
    .where("account_id", "=", accountId)
    .orderBy("start_ms")
    .execute();
  return rows.map((row) => [(noonMs - row.start_ms) / unitMs, row.count] as const);
}

function countTests(open: Open, tables: () => OpenTables): void {
  test("a row that is written again adds its count, also within one batch", async () => {
    const row = rejectionOf({ count: 5 });
    await add(open(), [row]);
    await add(open(), [
      { ...row, count: 7, model: "" },
      { ...row, count: 1, model: "", dialect: "" },
    ]);
    expect(await rowsIn(tables())).toEqual([{ ...row, count: 13, model: "", dialect: "" }]);
  });

  test("counts are kept by minute for an hour and by hour for half a year", async () => {
    const store = open();
    const times = [0, 1, 59, 61, 120, 60 * 24 * 30, 60 * 24 * 180, 60 * 24 * 182];
    await add(
      store,
      [],
      times.map((minutes) => rejectionCountOf({ minuteMs: noonMs - minutes * minuteMs })),
    );
    await eraseAll(store);
    expect((await countsIn(tables(), "minute")).map(([ago]) => ago)).toEqual([61, 59, 1, 0]);
    expect(await countsIn(tables(), "hour")).toEqual([
      [180 * 24, 1],
      [30 * 24, 1],
      [2, 2],
      [1, 2],
      [0, 1],
    ]);
  });

  test("the last hour of a key is counted by reason, most frequent first; its last rejection is kept", async () => {
    const store = open();
    await store.add({
      rows: [],
      counts: [
        rejectionCountOf({ minuteMs: noonMs - 5 * minuteMs, count: 3 }),
        rejectionCountOf({ minuteMs: noonMs - 2 * minuteMs, count: 9, model: "other" }),
        rejectionCountOf({ status: 429, code: "rate_limit_exceeded", count: 20 }),
        rejectionCountOf({ minuteMs: noonMs - 2 * hourMs, count: 500 }),
        rejectionCountOf({ accountId: "acct_2", keyId: "key_2", count: 7 }),
      ],
      keys: [
        { keyId: "key_1", lastMs: noonMs },
        { keyId: "key_1", lastMs: noonMs - 5 },
        { keyId: "key_temporary", lastMs: noonMs },
      ],
    });
    await store.add({ rows: [], counts: [], keys: [{ keyId: "key_1", lastMs: noonMs - 9 }] });
    const fromMs = noonMs - hourMs;
    expect(await store.recent({ accountId: "acct_1", fromMs })).toEqual([
      { keyId: "key_1", status: 429, code: "rate_limit_exceeded", count: 20 },
      { keyId: "key_1", status: 402, code: "insufficient_quota", count: 12 },
    ]);
    expect(await store.recent({ fromMs })).toHaveLength(3);
    await eraseAll(store, noonMs + 400 * dayMs);
    expect(await store.lastRejections()).toEqual(new Map([["key_1", noonMs]]));
  });
}

function boundTests(open: Open, tables: () => OpenTables): void {
  test("rows go after 30 days, in steps", async () => {
    const store = open();
    const old = Array.from({ length: 1_200 }, (_, at) =>
      rejectionOf({ atMs: noonMs - 31 * dayMs + at }),
    );
    const kept = [rejectionOf({ atMs: noonMs - 29 * dayMs }), rejectionOf()];
    await add(store, [...old, ...kept]);
    expect(await store.erase(noonMs)).toBe(true);
    // In steps: no transaction holds up the calls for long.
    expect(await rowsIn(tables())).toHaveLength(702);
    await eraseAll(store);
    expect(await rowsIn(tables())).toEqual(kept.toReversed());
  });

  test("what one account has too much goes, the oldest first, without touching another's", async () => {
    const store = open({ rowsOfAccount: 10, countsOfAccount: 5 });
    const rows = Array.from({ length: 50 }, (_, at) => rejectionOf({ atMs: noonMs - 50 + at }));
    const other = rejectionOf({ accountId: "acct_2", atMs: noonMs - 1_000 });
    const counts = Array.from({ length: 20 }, (_, at) =>
      rejectionCountOf({ minuteMs: noonMs - at * hourMs, keyId: `key_${at}` }),
    );
    await add(store, [...rows, other], [...counts, rejectionCountOf({ accountId: "acct_2" })]);
    await eraseAll(store);
    expect(await rowsIn(tables(), "acct_1")).toEqual(rows.slice(-10).toReversed());
    expect(await rowsIn(tables(), "acct_2")).toEqual([other]);
    const hours = (await countsIn(tables(), "hour")).map(([ago]) => ago);
    expect(hours).toEqual([4, 3, 2, 1, 0]);
    expect(await countsIn(tables(), "hour", "acct_2")).toHaveLength(1);
  });

  test("counts of one moment go one by one, down to the bound", async () => {
    const store = open({ countsOfAccount: 5 });
    const counts = Array.from({ length: 12 }, (_, at) => rejectionCountOf({ keyId: `key_${at}` }));
    await add(store, [], counts);
    await eraseAll(store);
    expect(await countsIn(tables(), "minute")).toHaveLength(5);
    expect(await countsIn(tables(), "hour")).toHaveLength(5);
  });

  test("what all accounts have too much goes, also what an earlier process left", async () => {
    const rows = Array.from({ length: 700 }, (_, at) =>
      rejectionOf({ atMs: noonMs - 700 + at, accountId: `acct_${at % 9}` }),
    );
    await add(open(), rows);
    await eraseAll(open({ rows: 60 }));
    expect(await rowsIn(tables())).toEqual(rows.slice(-60).toReversed());
  });

  test("between the steps an account that is within its bounds loses nothing", async () => {
    const rows = Array.from({ length: 1_400 }, (_, at) =>
      rejectionOf({ atMs: noonMs - 1_400 + at, accountId: `acct_${at % 9}` }),
    );
    const store = open({ rows: 60 });
    await add(store, rows);
    expect(await store.erase(noonMs)).toBe(true);
    const own = rows.filter(({ accountId }) => accountId === "acct_3").slice(-6);
    await add(store, [], [rejectionCountOf({ accountId: "acct_3" })]);
    await eraseAll(store);
    expect(await rowsIn(tables())).toEqual(rows.slice(-60).toReversed());
    expect((await rowsIn(tables(), "acct_3")).slice(0, 6)).toEqual(own.toReversed());
  });
}
