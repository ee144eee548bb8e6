import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { idTimeMs, newId } from "../../src/base/ids.ts";
import { dialects } from "../../src/call/dialect.ts";
import { Minutes } from "../../src/ledger/minutes.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import {
  type LedgerReports,
  mostSteps,
  othersName,
  type RankMark,
  type ReceiptQuery,
  type UsageQuery,
} from "../../src/ledger/reports.ts";
import { dayMs, hourMs } from "../../src/ledger/rollups.ts";
import {
  closeOpened,
  maxBalance,
  noonMs,
  type Opened,
  receiptOf,
  startSums,
} from "./ledger-samples.ts";
import { receiptsOf, usageOf } from "./plain-reports.ts";
import { type SumsDatabase, sumsOf } from "./sums-database.ts";

const clock = { nowMs: () => noonMs + 3 * dayMs };

/** The keys that are the cheapest in the beginning are the dearest later. */
const worthOf = (key: number, at: number) => (key >= 9 ? 10 : at > 215 ? 100 : 1);

/** Three days of two accounts: many keys, some models, every kind of end. */
function manyReceipts(): Receipt[] {
  return Array.from({ length: 450 }, (_, at) => {
    const key = (at * 7) % 31;
    return receiptOf({
      id: newId("req", noonMs + Math.floor((at / 450) * 3 * dayMs)),
      accountId: key % 4 === 0 ? "acct_2" : "acct_1",
      keyId: `key_${key}`,
      model: `m${(at * 5) % 6}`,
      endpoint: at % 9 === 0 ? "speech" : "chat",
      dialect: at % 9 === 0 ? undefined : dialects[at % 5],
      provider: at % 5 === 0 ? "q" : "p",
      outcome: ["ok", "ok", "left", "upstream_error", "rate_limit_exceeded"][at % 5] ?? "ok",
      charged: BigInt(((at * 37) % 101) * worthOf(key, at)) * 1_000_000_000_007n,
      cost: maxBalance / 1_000n,
      durationMs: (at * at) % 60_000,
      firstByteMs: at % 3 === 0 ? undefined : (at * 11) % 2_000,
    });
  });
}

interface Made {
  readonly database: SumsDatabase;
  readonly receipts: readonly Receipt[];
  readonly reports: LedgerReports;
  close(): Promise<void>;
}

/** Half of them are in the sums by day, some by hour alone, and the last are not yet in any. */
async function make(opened: Opened): Promise<Made> {
  const database = sumsOf(opened);
  await database.fund();
  const sums = await startSums(database);
  const receipts = manyReceipts();
  const half = noonMs + 1.5 * dayMs;
  await database.commit(receipts.filter(({ id }) => idTimeMs(id) < half));
  await sums.flush(half);
  await database.commit(receipts.filter(({ id }) => idTimeMs(id) >= half));
  const reports = database.openReports({
    clock,
    flush: () => sums.flush(half),
    minutes: new Minutes(),
  });
  return {
    database,
    receipts,
    reports,
    async close() {
      await reports.close();
      await closeOpened(opened);
    },
  };
}

/** All but two read the same receipts. */
export function reportsContract(name: string, open: () => Promise<Opened>): void {
  describe(`reports on ${name}`, () => {
    let made: Made;
    beforeAll(async () => {
      made = await make(await open());
    });
    afterAll(() => made.close());
    const using: Using = (work) => work(made);
    usageTests(using);
    spanTests(using);
    pageTests(using);
    rankTests(using);
    writeTests(async (work) => {
      const own = await make(await open());
      await work(own).finally(() => own.close());
    });
  });
}

function usageTests(using: Using): void {
  test("usage is what the receipts add up to, by every grain, group and filter", () =>
    using(async ({ receipts, reports }) => {
      const filters: Partial<UsageQuery>[] = [
        {},
        { accountId: "acct_1" },
        { accountId: "acct_2", model: "m1" },
        { accountId: "acct_1", keyId: "key_5" },
        { keyId: "key_5" },
        { keyId: "key_5", model: "m2" },
        { model: "m3" },
        { accountId: "acct_none" },
      ];
      const spans = [
        { fromMs: noonMs, toMs: noonMs + 4 * dayMs },
        { fromMs: noonMs + 20 * hourMs + 5, toMs: noonMs + 50 * hourMs + 1 },
        { fromMs: noonMs + 2.9 * dayMs, toMs: noonMs + 2.9 * dayMs },
        // Long over: what has come since does not say who is dear.
        { fromMs: noonMs, toMs: noonMs + hourMs },
      ];
      for (const grain of ["hour", "day"] as const)
        for (const by of ["none", "model", "key", "account"] as const)
          for (const span of spans)
            for (const filter of filters) {
              const query = { ...span, ...filter, grain, by };
              expect({ query, points: await reports.usage(query) }).toEqual({
                query,
                points: usageOf(receipts, query),
              });
            }
    }));

  test("of more names than fit the dearest are told, and the others together", () =>
    using(async ({ reports }) => {
      const query = { fromMs: noonMs, toMs: noonMs + 4 * dayMs, grain: "day" } as const;
      const points = await reports.usage({ ...query, by: "key" });
      const names = new Set(points.map(({ name }) => name));
      expect([names.size, names.has(othersName)]).toEqual([21, true]);
      const sum = (all: readonly { readonly charged: bigint }[]) =>
        all.reduce((total, { charged }) => total + charged, 0n);
      expect(sum(points)).toBe(sum(await reports.usage({ ...query, by: "none" })));
    }));

  test("more steps of time than a chart can have are refused", () =>
    using(async ({ reports }) => {
      const fromMs = noonMs - (mostSteps + 1) * hourMs;
      const query = { fromMs, toMs: noonMs, grain: "hour", by: "none" } as const;
      await expect(reports.usage(query)).rejects.toThrow("time steps");
    }));
}

function spanTests(using: Using): void {
  test("days of a time zone are made of hours, also when the clocks change", () =>
    using(async ({ receipts, reports }) => {
      const fromMs = noonMs + 11 * hourMs;
      const span = { fromMs, toMs: fromMs + 3 * dayMs };
      const zones: UsageQuery["dayOffsets"][] = [
        [{ fromMs, offsetMs: hourMs }],
        [{ fromMs, offsetMs: -5 * hourMs }],
        [
          { fromMs, offsetMs: 2 * hourMs },
          { fromMs: fromMs + 26 * hourMs, offsetMs: hourMs },
          { fromMs: fromMs + 40 * hourMs, offsetMs: 3 * hourMs },
        ],
      ];
      const filters = [{}, { accountId: "acct_1" }, { keyId: "key_5", model: "m2" }];
      for (const dayOffsets of zones)
        for (const by of ["none", "model", "key", "account"] as const)
          for (const filter of filters) {
            const query = { ...span, ...filter, grain: "day", by, dayOffsets } as const;
            expect({ query, points: await reports.usage(query) }).toEqual({
              query,
              points: usageOf(receipts, query),
            });
          }
    }));

  test("a whole span is one step, and tells more names apart than a chart", () =>
    using(async ({ receipts, reports }) => {
      const span = { fromMs: noonMs, toMs: noonMs + 4 * dayMs, isWhole: true };
      for (const grain of ["hour", "day"] as const)
        for (const by of ["none", "model", "key", "account"] as const)
          for (const filter of [
            {},
            { accountId: "acct_1" },
            { accountId: "acct_2", model: "m1" },
          ]) {
            const query = { ...span, ...filter, grain, by } as const;
            const points = await reports.usage(query);
            expect({ query, points }).toEqual({ query, points: usageOf(receipts, query) });
            if (by !== "none" && points.length > 0)
              expect(points.map(({ name }) => name)).not.toContain(othersName);
          }
      const keys = await reports.usage({ ...span, grain: "day", by: "key" });
      expect(keys.length).toBeGreaterThan(21);
    }));
}

const idsOf = (receipts: readonly Receipt[]) => receipts.map(({ id }) => id);

export function halfFoldedTest(database: () => SumsDatabase): void {
  test("usage is right also while an hour is half in the sums by day", async () => {
    const sums = await startSums(database());
    const receipts = Array.from({ length: 100 }, (_, at) =>
      receiptOf({ id: newId("req", noonMs + at), keyId: `key_${at}`, model: "m", charged: 0n }),
    );
    await database().commit(receipts);
    await sums.flush(noonMs, true);
    const reports = database().openReports({
      clock,
      flush: async () => {},
      minutes: new Minutes(),
    });
    let pieces = 0;
    do {
      for (const grain of ["hour", "day"] as const)
        for (const filter of [{}, { accountId: "acct_1" }, { accountId: "acct_1", model: "m" }]) {
          const query = { fromMs: noonMs, toMs: noonMs + 1, grain, by: "none", ...filter } as const;
          expect(await reports.usage(query)).toEqual(usageOf(receipts, query));
        }
      pieces++;
    } while (await database().rollups.fold(noonMs + hourMs));
    expect(pieces).toBeGreaterThan(3);
    await reports.close();
  });
}

type Using = (work: (made: Made) => Promise<void>) => Promise<void>;

async function walk(
  reports: LedgerReports,
  query: Omit<ReceiptQuery, "after">,
): Promise<readonly Receipt[]> {
  const found: Receipt[] = [];
  let after: string | undefined;
  do {
    const page = await reports.receipts({ ...query, after });
    expect(page.receipts.length).toBeLessThanOrEqual(query.limit);
    found.push(...page.receipts);
    after = page.after;
  } while (after !== undefined);
  return found;
}

function pageTests(using: Using): void {
  test("pages lose and repeat no receipt, and have those that match alone", () =>
    using(async ({ receipts, reports }) => {
      const filters: Partial<ReceiptQuery>[] = [
        {},
        { accountId: "acct_1" },
        { accountId: "acct_2", outcome: "failed" },
        { accountId: "acct_1", keyId: "key_6", model: "m2" },
        { keyId: "key_5", provider: "q" },
        { keyId: "key_5" },
        { model: "m4" },
        { provider: "q" },
        // Its account is another one.
        { accountId: "acct_1", keyId: "key_8" },
        { model: "m4", endpoint: "speech" },
        { dialect: "messages" },
        { dialect: "chat", accountId: "acct_2" },
        { dialect: "responses", outcome: "failed", endpoint: "chat" },
        { outcome: "failed" },
        { outcome: "left", provider: "p" },
        { outcome: "rate_limit_exceeded" },
        { outcome: "never_seen" },
        { status: 200, model: "m1" },
        { status: 502 },
        { status: 429, accountId: "acct_2" },
        { status: 418 },
        { fromMs: noonMs + 10 * hourMs + 7, toMs: noonMs + 40 * hourMs + 3 },
        { fromMs: noonMs + 35 * hourMs, accountId: "acct_2" },
        { idPrefix: receipts[220]?.id.slice(0, 9) },
        { idPrefix: receipts[220]?.id },
        { idPrefix: "req_", toMs: noonMs + hourMs },
        { idPrefix: "acct_1" },
      ];
      for (const filter of filters)
        for (const [oldestFirst, limit] of [
          [false, 37],
          [true, 1_000],
          [true, 53],
        ] as const) {
          const query = { ...filter, oldestFirst, limit };
          const found = await walk(reports, query);
          expect({ query, ids: found.map(({ id }) => id) }).toEqual({
            query,
            ids: receiptsOf(receipts, query).map(({ id }) => id),
          });
        }
    }));

  test("a receipt is told as it was written, alone and on a page", () =>
    using(async ({ receipts, reports }) => {
      const newest = receipts.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, 3);
      expect((await reports.receipts({ limit: 3 })).receipts).toEqual(newest);
      expect(await reports.receipt(newest[0]?.id ?? "")).toEqual(newest[0]);
      expect(await reports.receipt("req_none")).toBeUndefined();
    }));

  test("a page of nothing, or of more than fit, is refused", () =>
    using(async ({ reports }) => {
      for (const limit of [0, -1, 1_001, Number.NaN])
        await expect(reports.receipts({ limit })).rejects.toThrow(
          "limit must be between 1 and 1000",
        );
    }));
}

function rankTests(using: Using): void {
  test("by cost or duration, pages have all that match in that order, each once", () =>
    using(async ({ receipts, reports }) => {
      for (const filter of [{}, { accountId: "acct_2" }, { outcome: "failed", model: "m2" }])
        for (const by of ["charged", "duration"] as const)
          for (const isAscending of [false, true]) {
            const query = { ...filter, by, isAscending, limit: 97 };
            const found: Receipt[] = [];
            let after: RankMark | undefined;
            do {
              const page = await reports.ranked({ ...query, after });
              found.push(...page.receipts);
              after = page.after;
            } while (after !== undefined);
            const valueOf = (one: Receipt) =>
              by === "charged" ? one.charged : BigInt(one.durationMs);
            const sorted = receiptsOf(receipts, filter).toSorted((one, other) => {
              const [low, high] = isAscending ? [one, other] : [other, one];
              const difference = valueOf(low) - valueOf(high);
              return difference === 0n ? (low.id < high.id ? -1 : 1) : difference < 0n ? -1 : 1;
            });
            expect({ query, ids: idsOf(found) }).toEqual({ query, ids: idsOf(sorted) });
          }
    }));

  test("the count is of all that match", () =>
    using(async ({ receipts, reports }) => {
      for (const filter of [
        {},
        { accountId: "acct_1" },
        { keyId: "key_5", provider: "q" },
        { outcome: "failed", fromMs: noonMs + 9 * hourMs },
        { status: 200 },
        { model: "none" },
        { fromMs: 5, toMs: 5 },
      ])
        expect({ filter, ...(await reports.count(filter)) }).toEqual({
          filter,
          count: receiptsOf(receipts, filter).length,
          isCapped: false,
        });
    }));

  test("what each key was charged is summed from a day on, of one account", () =>
    using(async ({ receipts, reports }) => {
      for (const accountId of ["acct_1", "acct_2"])
        for (const fromMs of [noonMs, noonMs + dayMs, noonMs + 2 * dayMs]) {
          const dayStart = Math.floor(fromMs / dayMs) * dayMs;
          const toMs = noonMs + 4 * dayMs;
          const sums = await reports.keySpending({ accountIds: [accountId], fromMs, toMs });
          const expected = new Map<string, bigint>();
          for (const one of receiptsOf(receipts, { accountId, fromMs: dayStart }))
            expected.set(one.keyId, (expected.get(one.keyId) ?? 0n) + one.charged);
          expect([...sums].toSorted()).toEqual([...expected].toSorted());
        }
    }));
}

function writeTests(using: Using): void {
  test("a receipt that comes between two pages is on neither", () =>
    using(async ({ database, receipts, reports }) => {
      const first = await reports.ranked({ by: "duration", limit: 225 });
      const late = receiptOf({ id: newId("req", noonMs + 3 * dayMs), durationMs: 1, charged: 0n });
      await database.commit([late]);
      const { receipts: rest, after } = await reports.ranked({
        by: "duration",
        limit: 225,
        after: first.after,
      });
      expect(idsOf([...first.receipts, ...rest]).toSorted()).toEqual(idsOf(receipts).toSorted());
      expect(after).toBeUndefined();
    }));

  test("a receipt is on the first page as soon as it stands, also one that comes late", () =>
    using(async ({ database, reports }) => {
      const asked = { accountId: "acct_2", keyId: "key_late", limit: 5 };
      expect((await reports.receipts(asked)).receipts).toEqual([]);
      const late = [noonMs + 5, noonMs + 3 * dayMs].map((ms) =>
        receiptOf({ id: newId("req", ms), accountId: "acct_2", keyId: "key_late", charged: 0n }),
      );
      for (const receipt of late) {
        await database.commit([receipt]);
        expect((await reports.receipts(asked)).receipts[0]).toEqual(receipt);
      }
      expect((await reports.receipts(asked)).receipts).toEqual(late.toReversed());
    }));
}
