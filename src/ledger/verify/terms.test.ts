import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { plainModel } from "../../../test/store/catalog-samples.ts";
import {
  entryOf,
  noonMs,
  receiptOf,
  setLimits,
  write,
} from "../../../test/store/ledger-samples.ts";
import { newId } from "../../base/ids.ts";
import type { BudgetLimit } from "../../call/limits.ts";
import { costOf, type Price } from "../../call/price.ts";
import { openLedgerReader } from "../../store/sqlite/ledger/reader.ts";
import type { Sqlite } from "../../store/sqlite/sqlite.ts";
import { createStore } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import { holdOf } from "../need.ts";
import type { Receipt, ReceiptTerms } from "../receipt.ts";
import { verifyLedger } from "./verify.ts";

const root = mkdtempSync(join(tmpdir(), "svc-verify-terms-"));
afterAll(() => rmSync(root, { recursive: true }));

const price: Price = { input: 1_000_000n, cached_input: 2_000_000n, output: 5_000_000n };
const vendorCost: Price = { input: 1_000_000n, output: 3_000_000n };
const units = { input: 7, output: 11 };
const cost = costOf(units, price);
const parts = { input: 20, output: 12, audio: 0, image: 0, video: 0 };
const hold = holdOf(parts, price);
const terms: ReceiptTerms = {
  keyLimits: 1,
  accountLimits: 1,
  cost: { version: 1, route: 1 },
  hold: parts,
};
const hourMs = 3_600_000;
const setMs = noonMs - hourMs;
const owner = { accountId: "acct_1", keyId: "key_1" };
const todayMs = Date.UTC(2027, 0, 15);

let sqlite: Sqlite;
let store: Store;

/** One account and key, both limited an hour before noon; a model with two routes. */
beforeEach(async () => {
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  await store.accounts.insert({ id: "acct_1", name: "one", createdAtMs: 1 }, auditOf());
  const key = { id: "key_1", accountId: "acct_1", name: "k", hash: "h", hint: "i" };
  await store.keys.insert({ ...key, createdAtMs: 1 }, auditOf());
  await store.ledger.addEntry(entryOf({ nano: 1_000_000n }), auditOf());
  const routes = [
    { provider: "a", model: "m", weight: 1 },
    { provider: "p", model: "m", weight: 1, cost: vendorCost },
  ];
  await store.catalog.write(
    {
      atMs: 1,
      saveModels: [{ ...plainModel, routes }],
      addPrices: [{ modelId: "m", effectiveAtMs: 1, createdAtMs: 1, price }],
    },
    auditOf(),
  );
  await setLimits(store.ledger, { owner, limits: { rpm: 5 }, nowMs: () => setMs });
  await setLimits(store.ledger, { limits: { tpm: 5 }, nowMs: () => setMs });
});
afterEach(() => store.close());

const receipt = (rest: Partial<Receipt> = {}, ms = noonMs): Receipt =>
  receiptOf({
    id: newId("req", ms),
    units,
    cost,
    charged: cost,
    hold,
    vendorCost: costOf(units, vendorCost),
    terms,
    ...rest,
  });

async function commit(...receipts: readonly Receipt[]): Promise<void> {
  await store.ledger.commit(receipts.map((one) => write(one)));
  await store.ledger.rollups.recount(0);
}

async function kinds(): Promise<readonly string[]> {
  const reader = openLedgerReader(sqlite.path);
  try {
    return (await verifyLedger(reader)).problems.map(({ kind }) => kind);
  } finally {
    await reader.close();
  }
}

const corrupt = (statement: string) => sqlite.raw.run(statement);

test("receipts are read back with their terms, and those from before have none", async () => {
  const { cost: _cost, ...unasked } = terms;
  const all = [
    receipt(),
    receipt({ provider: "", vendorCost: undefined, terms: unasked }),
    receipt({ terms: undefined }),
  ];
  await commit(...all);
  const reader = openLedgerReader(sqlite.path);
  for (const one of all) {
    const found = await reader.receipt(one.id);
    expect(found?.terms).toEqual(one.terms);
    expect(found !== undefined && "terms" in found).toBe(one.terms !== undefined);
  }
  await reader.close();
  expect(await kinds()).toEqual([]);
});

describe("a receipt is held to what was in force", () => {
  for (const [what, statement, found] of [
    ["the parts of its hold", "update receipts set hold_output = hold_output + 1", ["hold"]],
    ["its hold", "update receipts set hold = hold + 1", ["hold"]],
    ["the vendor's cost", "update receipts set vendor_cost = vendor_cost - 1", ["vendor-cost"]],
    ["a vendor's cost that is missing", "update receipts set vendor_cost = null", ["vendor-cost"]],
    ["its route", "update receipts set cost_route = 0", ["route", "vendor-cost"]],
    [
      "its route costs",
      "update receipts set cost_version = 9",
      ["cost-version", "route", "vendor-cost"],
    ],
    ["the key's limits", "update receipts set key_limits_version = 2", ["limits-version"]],
    ["the account's limits", "update receipts set account_limits_version = 0", ["limits-version"]],
    [
      "limits of later",
      `update limit_versions set effective_at_ms = ${noonMs + hourMs}`,
      ["limits-version", "limits-version"],
    ],
    [
      "a price of later",
      `update prices set effective_at_ms = ${noonMs + hourMs}`,
      ["price-version"],
    ],
    [
      "route costs of later",
      `update cost_versions set effective_at_ms = ${noonMs + hourMs}`,
      ["cost-version"],
    ],
    [
      "a cost that was changed afterwards",
      `update cost_versions set routes = '[{"provider":"a"},{"provider":"p","cost":{"input":"1"}}]'`,
      ["vendor-cost"],
    ],
  ] as const)
    test(`${what}: another one is found`, async () => {
      await commit(receipt());
      expect(await kinds()).toEqual([]);
      corrupt(statement);
      const problems = await kinds();
      // Sums of vendors' costs are off as well.
      expect(problems.filter((kind) => !/^(rollup|day|total) /.test(kind))).toEqual([...found]);
    });

  test("a version that was replaced before the call began is found, and a moment of delay is not", async () => {
    await setLimits(store.ledger, { owner, limits: { rpm: 6 }, nowMs: () => noonMs });
    await commit(receipt({}, noonMs - 1), receipt({}, noonMs + 1_000));
    await commit(receipt({ terms: { ...terms, keyLimits: 2 } }, noonMs + hourMs));
    expect(await kinds()).toEqual([]);
    await commit(receipt({}, noonMs + hourMs));
    expect(await kinds()).toEqual(["limits-version"]);
  });

  test("a charge above the hold is found, and accepted in a receipt from before", async () => {
    const beyond = { units: { output: 1_000 }, cost: 5_000n, charged: 5_000n };
    const vendor = { vendorCost: costOf(beyond.units, vendorCost) };
    await commit(receipt({ ...beyond, ...vendor, terms: undefined }));
    expect(await kinds()).toEqual([]);
    await commit(receipt({ ...beyond, ...vendor, charged: hold }));
    expect(await kinds()).toEqual([]);
    await commit(receipt({ ...beyond, ...vendor }));
    expect(await kinds()).toEqual(["charged"]);
  });

  test("one from before its terms were recorded is held to its price alone", async () => {
    await commit(receipt({ terms: undefined, hold: 1n, vendorCost: 1n }));
    expect(await kinds()).toEqual([]);
  });
});

describe("a budget", () => {
  const setBudget = (budget: BudgetLimit | undefined, ms: number) =>
    setLimits(store.ledger, {
      limits: budget === undefined ? undefined : { budget },
      nowMs: () => ms,
    });
  const charge = (accountLimits: number, ms: number, counted = true) => {
    const one = receipt({ terms: { ...terms, accountLimits } }, ms);
    const budgets = counted ? [{ ownerId: "acct_1", periodStartMs: todayMs }] : [];
    return store.ledger.commit([write(one, budgets)]);
  };
  const check = async () => {
    await store.ledger.rollups.recount(0);
    return kinds();
  };

  test("that was passed is found, though its row is right", async () => {
    for (const _ of [1, 2]) await charge(1, noonMs, false);
    await store.ledger.rollups.recount(0);
    // They ran when it was set, and count.
    await setBudget({ nano: 3n * cost, period: "day" }, noonMs);
    await charge(2, noonMs + 1);
    expect(await check()).toEqual([]);
    await charge(2, noonMs + 2);
    expect(await check()).toEqual(["budget-limit"]);
  });

  test("may be set below what was spent, admits what costs nothing, and can be raised", async () => {
    await charge(1, noonMs, false);
    await store.ledger.rollups.recount(0);
    await setBudget({ nano: 0n, period: "day" }, noonMs);
    const free = { input: 0, output: 0, audio: 0, image: 0, video: 0 };
    const nothing = { units: {}, cost: 0n, charged: 0n, hold: 0n, vendorCost: 0n };
    await commit(receipt({ ...nothing, terms: { ...terms, accountLimits: 2, hold: free } }));
    expect(await check()).toEqual([]);
    await setBudget({ nano: 2n * cost, period: "day" }, noonMs + 1);
    await charge(3, noonMs + 2);
    expect(await check()).toEqual([]);
  });

  test("has exactly its receipts from the period on in which it was set", async () => {
    await setBudget({ nano: 9n * cost, period: "day" }, setMs);
    await charge(2, noonMs);
    expect(await check()).toEqual([]);
    corrupt("update budget_spends set spent = spent - 1");
    expect(await check()).toEqual(["budget"]);
    corrupt("delete from budget_spends");
    expect(await check()).toEqual(["budget"]);
    corrupt(`insert into budget_spends values ('acct_1', ${todayMs + 24 * hourMs}, 1)`);
    expect(await check()).toEqual(["budget", "budget"]);
  });

  test("that was taken away may lack what came later", async () => {
    await setBudget({ nano: 9n * cost, period: "day" }, setMs);
    await charge(2, noonMs);
    await setBudget(undefined, noonMs);
    await charge(3, noonMs + 1, false);
    expect(await check()).toEqual([]);
  });
});
