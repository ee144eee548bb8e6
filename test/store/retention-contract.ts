import { beforeEach, describe, expect, test } from "bun:test";
import { newId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { costOf, type Price } from "../../src/call/price.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { applyRetention, type Days, type RetentionOptions } from "../../src/ledger/retention.ts";
import { dayMs, type Rollups, toDay } from "../../src/ledger/rollups.ts";
import { type LedgerReader, type ReceiptFilter, UnwritableError } from "../../src/ledger/store.ts";
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
    const home = new RetentionHome(opened);
    beforeEach(() => home.fill());
    keepingTests(home);
    safetyTests(home);
    exportTests(home);
  });
}

/** A ledger with receipts of two accounts on several days. */
class RetentionHome {
  readonly opened: () => Opened;
  receipts: readonly Receipt[] = [];
  #rollups: Rollups | undefined;

  constructor(opened: () => Opened) {
    this.opened = opened;
  }

  async fill(): Promise<void> {
    const { store } = this.opened();
    const from = { modelId: "m", effectiveAtMs: 1, createdAtMs: 1 };
    await store.catalog.write(
      { atMs: 1, saveModels: [plainModel], addPrices: [{ ...from, price }] },
      auditOf(),
    );
    for (const accountId of ["acct_1", "acct_2"])
      await store.ledger.addEntry(entryOf({ accountId, nano: above2to53 }), auditOf());
    this.#rollups = await startSums(store.ledger, noonMs - 61 * dayMs);
    this.receipts = ages.flatMap((age) =>
      [1, 1, 2].map((account, at) => receiptAt(noonMs - age * dayMs + at, account)),
    );
    for (const receipt of this.receipts) {
      const period = { ownerId: receipt.accountId, periodStartMs: 0 };
      await store.ledger.commit([write(receipt, [period])]);
    }
    await this.flush();
  }

  async flush(): Promise<void> {
    await this.#rollups?.flush(noonMs);
  }

  apply(options: Partial<RetentionOptions> = {}): Promise<void> {
    const store = this.opened().store.retention;
    return applyRetention({ store, days: undefined, nowMs: noonMs, log: quietLog, ...options });
  }

  /** Those that are there. */
  left(filter: ReceiptFilter = {}): Promise<readonly string[]> {
    return this.#read(async (reader) => {
      const list = await Array.fromAsync(reader.receipts({ ...filter, oldestFirst: true }));
      return list.map(({ id }) => id);
    });
  }

  idsOf(...which: ((receipt: Receipt, age: number) => boolean)[]): readonly string[] {
    return this.receipts
      .filter((receipt, at) => which.every((is) => is(receipt, ages[Math.floor(at / 3)] ?? 0)))
      .map(({ id }) => id);
  }

  verify(): Promise<LedgerFindings> {
    return this.#read((reader) => verifyLedger(reader));
  }

  async #read<T>(work: (reader: LedgerReader) => Promise<T>): Promise<T> {
    const reader = await this.opened().database.openReader();
    return work(reader).finally(() => reader.close());
  }
}

function keepingTests(home: RetentionHome): void {
  test("all receipts are kept by default", async () => {
    await home.apply();
    expect(await home.left()).toEqual(home.idsOf());
    const findings = await home.verify();
    expect(findings).toMatchObject({ ok: true, receipts: 18, charged: 18n * cost });
    expect(findings).not.toHaveProperty("fromSums");
  });

  test("receipts of all accounts go after some days; sums of days stand for them", async () => {
    const { ledger } = home.opened().store;
    const before = await ledger.leases();
    await home.apply({ days: 30 });
    expect(await home.left()).toEqual(home.idsOf((_, age) => age < 30));
    expect(await home.verify()).toMatchObject({
      ok: true,
      receipts: 9,
      charged: 18n * cost,
      fromSums: { receipts: 9, charged: 9n * cost },
    });
    expect(await ledger.leases()).toEqual(before);
  });

  test("an account may keep its receipts for less long", async () => {
    const { accounts } = home.opened().store;
    await accounts.setReceiptsDays("acct_2", 10, auditOf());
    expect((await accounts.find("acct_2"))?.receiptsDays).toBe(10);
    await home.apply();
    const isKept = ({ accountId }: Receipt, age: number) => accountId === "acct_1" || age < 10;
    expect(await home.left()).toEqual(home.idsOf(isKept));
    await home.apply({ days: 30 });
    expect(await home.left()).toEqual(home.idsOf(isKept, (_, age) => age < 30));
    expect(await home.verify()).toMatchObject({
      ok: true,
      receipts: 8,
      charged: 18n * cost,
      fromSums: { receipts: 10, charged: 10n * cost },
    });
  });

  test("what is gone stays gone when receipts are to be kept for longer again", async () => {
    await home.apply({ days: 30 });
    await home.apply({ days: 50 });
    await home.apply();
    expect(await home.verify()).toMatchObject({ ok: true, fromSums: { receipts: 9 } });
  });

  test("an open day is kept, and one that is not in the sums of days", async () => {
    const { store } = home.opened();
    // Late, so that its hour is open again.
    const late = receiptAt(noonMs - 40 * dayMs, 1);
    await store.ledger.commit([write(late, [{ ownerId: "acct_1", periodStartMs: 0 }])]);
    await home.apply({ days: 1 });
    expect((await home.left()).length).toBe(16);
    expect(await home.verify()).toMatchObject({ ok: true, charged: 19n * cost });
  });
}

function safetyTests(home: RetentionHome): void {
  test("a receipt that is gone is not charged again", async () => {
    const { store } = home.opened();
    await home.apply({ days: 30 });
    const before = await store.ledger.leases();
    for (const old of [home.receipts[0], receiptAt(noonMs - 45 * dayMs, 1)])
      await expect(store.ledger.commit(old === undefined ? [] : [write(old)])).rejects.toThrow(
        UnwritableError,
      );
    expect(await store.ledger.leases()).toEqual(before);
    await home.flush();
    expect(await home.verify()).toMatchObject({ ok: true, charged: 18n * cost });
  });

  test("sums without receipts are never recounted", async () => {
    const { store } = home.opened();
    await home.apply({ days: 30 });
    await store.ledger.rollups.recount(0);
    expect(await home.verify()).toMatchObject({ ok: true, charged: 18n * cost });
  });

  test("a budget that is set later counts what is gone", async () => {
    const { store } = home.opened();
    await home.apply({ days: 30 });
    const limits = { budget: { nano: above2to53, period: "total" } } as const;
    const set = await setLimits(store.ledger, { limits });
    expect(set?.spends).toEqual([{ ownerId: "acct_1", periodStartMs: 0, spent: 12n * cost }]);
    expect(await home.verify()).toMatchObject({ ok: true });
  });
}

function exportTests(home: RetentionHome): void {
  test("each day is exported before it goes, once, with all its receipts", async () => {
    const exported: [Days, number][] = [];
    const exportDay = async (day: Days) => {
      exported.push([day, (await home.left(day)).length]);
    };
    await home.apply({ days: 30, exportDay });
    await home.apply({ days: 30, exportDay });
    const dayOf = (age: number) => {
      const fromMs = toDay(noonMs - age * dayMs);
      return { fromMs, toMs: fromMs + dayMs };
    };
    expect(exported).toEqual([
      [dayOf(60), 3],
      [dayOf(40), 3],
      [dayOf(39), 3],
    ]);
    expect(await home.left()).toEqual(home.idsOf((_, age) => age < 30));
  });

  test("nothing goes that could not be exported, and the log has the reason", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", pretty: false, write: (line) => lines.push(line) });
    const { accounts } = home.opened().store;
    await accounts.setReceiptsDays("acct_2", 10, auditOf());
    let tries = 0;
    const exportDay = async () => {
      if (++tries === 2) throw new Error("disk full");
    };
    await home.apply({ days: 30, exportDay, log });
    expect(await home.left()).toEqual(
      home.idsOf(({ accountId }, age) => accountId === "acct_1" || age < 10),
    );
    expect(lines.join()).toContain("disk full");
    expect(await home.verify()).toMatchObject({ ok: true, charged: 18n * cost });
    await home.apply({ days: 30, exportDay, log });
    expect(await home.left()).toHaveLength(8);
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
