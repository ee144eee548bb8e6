import { beforeEach, describe, expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { costOf, type Price } from "../../src/call/price.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { applyRetention, type Days, type RetentionOptions } from "../../src/ledger/retention.ts";
import { dayMs, type Rollups, toDay } from "../../src/ledger/rollups.ts";
import { UnwritableError } from "../../src/ledger/store.ts";
import { type LedgerFindings, verifyLedger } from "../../src/ledger/verify/verify.ts";
import { auditOf } from "./audit-sample.ts";
import { plainModel } from "./catalog-samples.ts";
import {
  above2to53,
  entryOf,
  noonMs,
  type Opened,
  receiptOf,
  setLimits,
  startSums,
  write,
} from "./ledger-samples.ts";

const price: Price = { input: 300_001n, output: 2_500_000n };
const units = { input: 7, output: 11 };
const cost = costOf(units, price);
/** Days before noon of the newest one. */
const ages = [60, 40, 39, 20, 2, 0];

/** Receipts that go after some days, and sums that stay. */
export function retentionTests(opened: () => Opened): void {
  describe("retention", () => {
    let rollups: Rollups;
    let receipts: readonly Receipt[];
    beforeEach(async () => {
      const { store } = opened();
      const from = { modelId: "m", effectiveAtMs: 1, createdAtMs: 1 };
      await store.catalog.write(
        { atMs: 1, saveModels: [plainModel], addPrices: [{ ...from, price }] },
        auditOf(),
      );
      for (const accountId of ["acct_1", "acct_2"])
        await store.ledger.addEntry(entryOf({ accountId, nano: above2to53 }), auditOf());
      rollups = await startSums(store.ledger, noonMs - 61 * dayMs);
      receipts = ages.flatMap((age) =>
        [1, 1, 2].map((account, at) => receiptAt(noonMs - age * dayMs + at, account)),
      );
      for (const receipt of receipts) {
        const period = { ownerId: receipt.accountId, periodStartMs: 0 };
        await store.ledger.commit([write(receipt, [period])]);
      }
      await rollups.flush(noonMs);
    });

    const left = async () => {
      const reader = await opened().database.openReader();
      const list = await Array.fromAsync(reader.receipts({ oldestFirst: true }));
      await reader.close();
      return list.map(({ id }) => id);
    };
    const idsOf = (...which: ((receipt: Receipt, age: number) => boolean)[]) =>
      receipts
        .filter((receipt, at) => which.every((is) => is(receipt, ages[Math.floor(at / 3)] ?? 0)))
        .map(({ id }) => id);
    const verify = async (): Promise<LedgerFindings> => {
      const reader = await opened().database.openReader();
      return verifyLedger(reader).finally(() => reader.close());
    };
    const apply = (options: Partial<RetentionOptions> = {}) =>
      applyRetention({
        store: opened().store.retention,
        days: undefined,
        nowMs: noonMs,
        log: quietLog,
        ...options,
      });

    test("all receipts are kept by default", async () => {
      await apply();
      expect(await left()).toEqual(idsOf());
      const findings = await verify();
      expect(findings).toMatchObject({ ok: true, receipts: 18, charged: 18n * cost });
      expect(findings).not.toHaveProperty("fromSums");
    });

    test("receipts of all accounts go after some days; sums of days stand for them", async () => {
      const { ledger } = opened().store;
      const before = await ledger.leases();
      await apply({ days: 30 });
      expect(await left()).toEqual(idsOf((_, age) => age < 30));
      expect(await verify()).toMatchObject({
        ok: true,
        receipts: 9,
        charged: 18n * cost,
        fromSums: { receipts: 9, charged: 9n * cost },
      });
      expect(await ledger.leases()).toEqual(before);
    });

    test("an account may keep its receipts for less long", async () => {
      const { accounts } = opened().store;
      await accounts.setReceiptsDays("acct_2", 10, auditOf());
      expect((await accounts.find("acct_2"))?.receiptsDays).toBe(10);
      await apply();
      const isKept = ({ accountId }: Receipt, age: number) => accountId === "acct_1" || age < 10;
      expect(await left()).toEqual(idsOf(isKept));
      await apply({ days: 30 });
      expect(await left()).toEqual(idsOf(isKept, (_, age) => age < 30));
      expect(await verify()).toMatchObject({
        ok: true,
        receipts: 8,
        charged: 18n * cost,
        fromSums: { receipts: 10, charged: 10n * cost },
      });
    });

    test("what is gone stays gone when receipts are to be kept for longer again", async () => {
      await apply({ days: 30 });
      await apply({ days: 50 });
      await apply();
      expect(await verify()).toMatchObject({ ok: true, fromSums: { receipts: 9 } });
    });

    test("an open day is kept, and one that is not in the sums of days", async () => {
      const { store } = opened();
      // Late, so that its hour is open again.
      const late = receiptAt(noonMs - 40 * dayMs, 1);
      await store.ledger.commit([write(late, [{ ownerId: "acct_1", periodStartMs: 0 }])]);
      await apply({ days: 1 });
      expect((await left()).length).toBe(16);
      expect(await verify()).toMatchObject({ ok: true, charged: 19n * cost });
    });

    test("a receipt that is gone is not charged again", async () => {
      const { store } = opened();
      await apply({ days: 30 });
      const before = await store.ledger.leases();
      for (const old of [receipts[0], receiptAt(noonMs - 45 * dayMs, 1)])
        await expect(store.ledger.commit(old === undefined ? [] : [write(old)])).rejects.toThrow(
          UnwritableError,
        );
      expect(await store.ledger.leases()).toEqual(before);
      await rollups.flush(noonMs);
      expect(await verify()).toMatchObject({ ok: true, charged: 18n * cost });
    });

    test("sums without receipts are never recounted", async () => {
      const { store } = opened();
      await apply({ days: 30 });
      await store.ledger.rollups.recount(0);
      expect(await verify()).toMatchObject({ ok: true, charged: 18n * cost });
    });

    test("a budget that is set later counts what is gone", async () => {
      const { store } = opened();
      await apply({ days: 30 });
      const limits = { budget: { nano: above2to53, period: "total" } } as const;
      const set = await setLimits(store.ledger, { limits });
      expect(set?.spends).toEqual([{ ownerId: "acct_1", periodStartMs: 0, spent: 12n * cost }]);
      expect(await verify()).toMatchObject({ ok: true });
    });

    test("each day is exported before it goes, once, with all its receipts", async () => {
      const exported: [Days, number][] = [];
      const exportDay = async (day: Days) => {
        const reader = await opened().database.openReader();
        const list = await Array.fromAsync(reader.receipts({ ...day }));
        await reader.close();
        exported.push([day, list.length]);
      };
      await apply({ days: 30, exportDay });
      await apply({ days: 30, exportDay });
      const dayOf = (age: number) => {
        const fromMs = toDay(noonMs - age * dayMs);
        return { fromMs, toMs: fromMs + dayMs };
      };
      expect(exported).toEqual([
        [dayOf(60), 3],
        [dayOf(40), 3],
        [dayOf(39), 3],
      ]);
      expect(await left()).toEqual(idsOf((_, age) => age < 30));
    });

    test("nothing goes that could not be exported, and the log has the reason", async () => {
      const lines: string[] = [];
      const log = createLog({ level: "info", pretty: false, write: (line) => lines.push(line) });
      const { accounts } = opened().store;
      await accounts.setReceiptsDays("acct_2", 10, auditOf());
      let tries = 0;
      const exportDay = async () => {
        if (++tries === 2) throw new Error("disk full");
      };
      await apply({ days: 30, exportDay, log });
      expect(await left()).toEqual(
        idsOf(({ accountId }, age) => accountId === "acct_1" || age < 10),
      );
      expect(lines.join()).toContain("disk full");
      expect(await verify()).toMatchObject({ ok: true, charged: 18n * cost });
      await apply({ days: 30, exportDay, log });
      expect(await left()).toHaveLength(8);
    });
  });
}

const quietLog = createLog({ level: "error", pretty: false, write: () => {} });

const receiptAt = (ms: number, account: number) =>
  receiptOf({
    id: newId("req", ms),
    accountId: `acct_${account}`,
    keyId: `key_of_${account}`,
    units,
    cost,
    charged: cost,
    hold: cost,
  });
