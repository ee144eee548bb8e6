import { describe, expect, test } from "bun:test";
import { usePostgres } from "../../../../test/setup/use-postgres.ts";
import { noonMs, receiptOf } from "../../../../test/store/ledger-samples.ts";
import { usageOf } from "../../../../test/store/plain-reports.ts";
import { insertReceipts } from "../../../../test/store/postgres-receipts.ts";
import { openSums } from "../../../../test/store/postgres-sums.ts";
import { newId } from "../../../base/ids.ts";
import { Minutes, minuteMs } from "../../../ledger/minutes.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { ReportOptions } from "../../store.ts";
import { transact } from "../transaction.ts";
import { createMinuteStore } from "./minutes.ts";
import { recountEpoch } from "./recount.ts";
import { PostgresReports } from "./reports.ts";

const postgres = usePostgres();
const open = (options: Partial<ReportOptions> = {}) =>
  new PostgresReports(postgres().pool, {
    clock: { nowMs: () => noonMs },
    flush: async () => {},
    minutes: new Minutes(),
    ...options,
  });
const at = (ms: number, rest: Partial<Receipt> = {}) =>
  receiptOf({ id: newId("req", ms), ...rest });

/** Keeps every reader of receipts waiting, until it is released. */
async function lockReceipts() {
  const client = await postgres().pool.connect();
  await client.query("begin; lock table receipts in access exclusive mode");
  return async () => {
    await client.query("rollback");
    client.release();
  };
}

describe("questions", () => {
  test("a report that takes too long is given up, and the next is answered", async () => {
    const reports = open({ limitMs: 200 });
    const release = await lockReceipts();
    await expect(reports.receipt("req_1")).rejects.toThrow("took too long");
    await release();
    expect(await reports.receipt("req_1")).toBeUndefined();
    await reports.close();
  });

  test("there is a bound on questions in line, and closing ends them all", async () => {
    const reports = open();
    const release = await lockReceipts();
    const asked = Array.from({ length: 64 }, () => reports.receipt("req_1"));
    await expect(reports.receipt("req_1")).rejects.toThrow("Too many");
    const ends = Promise.allSettled(asked);
    await reports.close();
    expect((await ends).every(({ status }) => status === "rejected")).toBe(true);
    await release();
    await expect(reports.receipt("req_1")).rejects.toThrow("shutting down");
  });

  test("a database that cannot be read is named as the reason", async () => {
    const reports = open();
    await postgres().pool.query("alter table receipts rename to moved");
    await expect(reports.receipt("req_1")).rejects.toThrow(
      'The ledger could not be read: relation "receipts" does not exist',
    );
    await reports.close();
  });

  test("a filter that no text can match finds nothing", async () => {
    const reports = open();
    await insertReceipts(postgres().pool, { epoch: 1, receipts: [at(noonMs)] });
    for (const model of ["m\0", "\0", "", "'", "\u{10ffff}", "\ud800"])
      expect((await reports.receipts({ model, limit: 5 })).receipts).toEqual([]);
    await reports.close();
  });

  test("refused calls are read with their numbers, and without any there is nothing", async () => {
    const reports = open();
    const hour = { fromMs: 0, toMs: noonMs + 1, grain: "hour", by: "key", names: [] } as const;
    expect(await reports.rejected(hour)).toEqual([]);
    const id = newId("req", noonMs);
    await postgres().pool.query(`insert into rejections values
      ('${id}', 'acct_1', 'key_1', 'm', 'chat', 402, 'quota', 'Not enough.', '', 3)`);
    for (const table of ["rejection_hours", "rejection_minutes"])
      await postgres().pool.query(`insert into ${table} values
        (${noonMs}, 'acct_1', 'key_1', 'm', 'quota', 402, 3)`);
    expect(await reports.rejections({ limit: 5 })).toEqual({
      rejections: [
        {
          id,
          accountId: "acct_1",
          keyId: "key_1",
          model: "m",
          endpoint: "chat",
          dialect: "",
          status: 402,
          code: "quota",
          message: "Not enough.",
          reason: "",
          count: 3,
        },
      ],
      after: undefined,
    });
    expect(await reports.countRejections({ status: 402 })).toEqual({ count: 3, isCapped: false });
    expect(await reports.rejected(hour)).toEqual([{ startMs: noonMs, name: "key_1", count: 3 }]);
    expect(await reports.recent({ accountId: "acct_1", fromMs: noonMs })).toEqual([
      { keyId: "key_1", status: 402, code: "quota", count: 3 },
    ]);
    await reports.close();
  });

  test("providers are summed over all processes", async () => {
    for (const durationMs of [5, 70]) {
      const { commit, rollups, watch } = await openSums(postgres());
      watch(() => {});
      const receipt = at(noonMs, { durationMs, vendorCost: 9_007_199_254_740_993n });
      await commit([receipt]);
      await rollups.recount(noonMs);
    }
    const reports = open();
    expect(await reports.providers(noonMs)).toMatchObject([
      {
        provider: "p",
        receipts: 2,
        fallbacks: 0,
        vendorCost: 18_014_398_509_481_986n,
        shortestMs: 5,
        longestMs: 70,
      },
    ]);
    await reports.close();
  });
});

describe("the last hour by minute", () => {
  const query = { fromMs: noonMs - 60 * minuteMs, toMs: noonMs + 1, grain: "minute" } as const;
  const some = () =>
    [75, 59, 40, 40, 3, 0].map((ago, place) =>
      at(noonMs - ago * minuteMs, {
        keyId: `key_${place % 3}`,
        accountId: place % 3 === 0 ? "acct_2" : "acct_1",
        model: `m${place % 2}`,
        durationMs: 30 * place,
      }),
    );

  test("has what every process wrote, each receipt once", async () => {
    const { pool } = postgres();
    const all = [some(), some(), some()];
    for (const [epoch, receipts] of all.entries()) {
      const [minutes, store] = [new Minutes(), createMinuteStore({ pool, epoch })];
      for (const receipt of receipts) {
        minutes.add(receipt);
        // Many times, as a process does.
        await store.write(minutes, noonMs);
        await store.write(minutes, noonMs);
      }
    }
    const reports = open();
    const known = all.flat().filter(({ id }) => id >= newId("req", noonMs - 60 * minuteMs));
    for (const by of ["none", "model", "key", "account"] as const)
      for (const filter of [{}, { accountId: "acct_1" }, { keyId: "key_1", model: "m1" }]) {
        const asked = { ...query, by, ...filter };
        expect(await reports.usage(asked)).toEqual(usageOf(known, asked));
        const whole = { ...asked, fromMs: noonMs - 600 * minuteMs, isWhole: true };
        expect(await reports.usage(whole)).toEqual(usageOf(known, whole));
      }
    await reports.close();
  });

  test("is completed for a process that died, and forgets after two hours", async () => {
    const dead = await openSums(postgres());
    const receipts = some().slice(1);
    await dead.commit(receipts);
    const { pool } = postgres();
    await pool.query("update epochs set is_open = false where id = $1", [dead.epoch]);
    await transact(pool, (client) => recountEpoch(client, dead.epoch));
    const reports = open();
    const asked = { ...query, by: "key" } as const;
    expect(await reports.usage(asked)).toEqual(usageOf(receipts, asked));
    await reports.close();
    const store = createMinuteStore({ pool, epoch: 99 });
    await store.write(new Minutes(), noonMs + 62 * minuteMs);
    const left = await pool.query("select start_ms from minute_sums order by 1");
    expect(left.rows.map((row) => (noonMs - row.start_ms) / minuteMs)).toEqual([40, 40, 3, 0]);
  });

  test("has no names for what a process could not tell apart", async () => {
    const { pool } = postgres();
    const minutes = new Minutes({ maxRows: 1 });
    for (const receipt of [1, 2, 3].map((key) => at(noonMs, { keyId: `key_${key}` })))
      minutes.add(receipt);
    await createMinuteStore({ pool, epoch: 1 }).write(minutes, noonMs);
    const reports = open();
    const points = await reports.usage({ ...query, by: "key" });
    expect(points.map(({ name, receipts }) => [name, receipts])).toEqual([
      ["key_1", 1],
      ["others", 2],
    ]);
    await reports.close();
  });
});

test("reports ask for fresh sums every second, though other processes take most of it to write them", async () => {
  let elapsedMs = 0;
  let flushes = 0;
  const reports = open({
    elapsedMs: () => elapsedMs,
    flush: async () => {
      flushes++;
      elapsedMs += 900;
    },
  });
  for (let second = 1; second <= 4; second++) {
    await reports.providers(noonMs);
    await reports.providers(noonMs);
    elapsedMs = second * 1_000;
  }
  expect(flushes).toBe(4);
  await reports.close();
});
