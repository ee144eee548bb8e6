import { describe, expect, test } from "bun:test";
import { noonMs, receiptOf } from "../../../test/store/ledger-samples.ts";
import { fromDecimal } from "../../base/decimal.ts";
import { newId } from "../../base/ids.ts";
import { costOf, type Price, priceKeys } from "../../call/price.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { memberColumns, operatorColumns } from "./columns.ts";
import { priceOfReceipt, toReceiptRow, toReceiptView } from "./views.ts";

const price: Price = { input: 300_000_000n, output: 2_500_000_001n, image: 30_000_000_000_000n };
const units = { input: 7, cached_input: 3, output: 11, image: 1, video_second: 0 };
const cost = costOf(units, price);
const receipt: Receipt = receiptOf({
  // The time of an id, without its random digits, which could hold any number that is looked for.
  id: `${newId("req", noonMs).slice(0, 16)}7${"0".repeat(19)}`,
  units,
  cost,
  charged: cost - 1n,
  vendorCost: cost - 5n,
  provider: "secretvendor",
  attempts: [
    {
      provider: "firstvendor",
      model: "hidden",
      code: "upstream_overloaded",
      status: 529,
      detail: "vendor words, many",
      startedMs: 2,
      durationMs: 50,
    },
    { provider: "secretvendor", model: "hidden", startedMs: 60, durationMs: 1_440 },
  ],
  firstByteMs: 120,
  durationMs: 1_500,
});

describe("the view of a receipt", () => {
  test("has its times, its attempts and its arithmetic", () => {
    const view = toReceiptView({ receipt, price, forOperator: true });
    expect(view).toMatchObject({
      id: receipt.id,
      units: { input: 7, cached_input: 3, output: 11, image: 1 },
      cost_usd: "0.030030501",
      charged_usd: "0.0300305",
      shortfall_usd: "0.000000001",
      provider: "secretvendor",
      vendor_cost_usd: "0.030030496",
      margin_usd: "0.000000004",
    });
    expect(view.timeline).toEqual({
      started_at: "2027-01-15T12:00:00Z",
      first_byte_ms: 120,
      duration_ms: 1_500,
      ended_at: "2027-01-15T12:00:01.500Z",
    });
    expect(view.attempts.map((attempt) => Object.values(attempt))).toEqual([
      [
        1,
        "upstream_overloaded",
        "Provider overloaded",
        2,
        50,
        "firstvendor",
        "hidden",
        529,
        "vendor words, many",
      ],
      [2, "served", "OK", 60, 1_440, "secretvendor", "hidden", null, null],
    ]);
    expect(view.arithmetic?.rows.map((row) => Object.values(row))).toEqual([
      ["input", "input tokens", 7, "0.30", "million", "0.0000021"],
      ["cached_input", "cached input tokens", 3, "0.30", "million", "0.0000009"],
      ["output", "output tokens", 11, "2.500000001", "million", "0.000027500000011"],
      ["image", "images", 1, "0.03", "image", "0.03"],
    ]);
    expect(view.arithmetic).toMatchObject({
      sum_usd: "0.030030500000011",
      rounding_usd: "0.000000000999989",
      cost_usd: "0.030030501",
      adds_up: true,
    });
  });

  test("tells a member nothing of vendors, whatever is in the receipt", () => {
    const view = toReceiptView({ receipt, price, forOperator: false });
    const text = JSON.stringify(view);
    for (const word of ["vendor", "hidden", "margin", 'provider"', "detail", "529", "0.030030496"])
      expect(text).not.toContain(word);
    const full = toReceiptView({ receipt, price, forOperator: true });
    const { vendor_cost_usd: _, margin_usd: __, provider: ___, cost_version: ____, ...rest } = full;
    const attempts = full.attempts.map(
      ({ provider: _provider, model: _model, status: _status, detail: _detail, ...attempt }) =>
        attempt,
    );
    expect(view).toEqual({ ...rest, attempts });
    expect(toReceiptRow({ receipt, forOperator: false })).not.toHaveProperty("provider");
  });

  test("shows what it was admitted by, and nothing where that was not recorded", () => {
    const hold = { input: 20, output: 12, audio: 0, image: 0, video: 0 };
    const terms = { keyLimits: 3, accountLimits: 0, cost: { version: 2, route: 0 }, hold };
    const shown = toReceiptView({ receipt: { ...receipt, terms }, price, forOperator: true });
    expect(shown).toMatchObject({
      limits_versions: { key: 3, account: 0 },
      hold_parts: hold,
      cost_version: 2,
    });
    const older = toReceiptView({ receipt, price, forOperator: false });
    expect(older).toMatchObject({ limits_versions: null, hold_parts: null });
    expect(older).not.toHaveProperty("cost_version");
  });

  test("says when the cost is not what the units give, and when the price is not known", () => {
    const off = { ...receipt, cost: cost + 1n };
    expect(toReceiptView({ receipt: off, price, forOperator: true }).arithmetic?.adds_up).toBe(
      false,
    );
    expect(toReceiptView({ receipt, price: undefined, forOperator: true }).arithmetic).toBeNull();
  });

  test("without a vendor, a first byte or an attempt says null, and none", () => {
    const bare = receiptOf({ provider: "", attempts: [], firstByteMs: undefined, units: {} });
    const view = toReceiptView({ receipt: bare, price, forOperator: true });
    expect(view).toMatchObject({
      provider: null,
      vendor_cost_usd: null,
      margin_usd: null,
      first_byte_ms: null,
      attempts: [],
      units: {},
      arithmetic: { rows: [], sum_usd: "0.00", rounding_usd: "0.00" },
    });
  });
});

test("the rows and the rounding add up to the cost, exactly, for any price and use", () => {
  let seed = 7;
  const next = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % most;
  };
  const exact = (text: string) => {
    const value = fromDecimal(text, 15);
    if (value === undefined) throw new Error(`not a decimal: ${text}`);
    return value;
  };
  for (let round = 0; round < 500; round++) {
    const some = priceKeys.filter(() => next(3) > 0);
    const of: Price = Object.fromEntries(some.map((key) => [key, BigInt(next(2_000_000_000))]));
    const used = Object.fromEntries(
      priceKeys.map((key) => [key, next(4) === 0 ? 0 : next(90_000)]),
    );
    const one = receiptOf({ units: used, cost: costOf(used, of) });
    const { arithmetic, cost_usd } = toReceiptView({ receipt: one, price: of, forOperator: false });
    if (arithmetic === null) throw new Error("there is a price");
    const sum = arithmetic.rows.reduce((total, row) => total + exact(row.cost_usd), 0n);
    expect(sum).toBe(exact(arithmetic.sum_usd));
    expect(sum + exact(arithmetic.rounding_usd)).toBe(exact(cost_usd));
    expect(exact(arithmetic.rounding_usd)).toBeLessThan(1_000_000n);
    expect(arithmetic.adds_up).toBe(true);
  }
});

test("the price of a receipt is that of its version, not the one in force", () => {
  const of = (version: number) => ({
    version,
    effectiveAtMs: version,
    createdAtMs: 1,
    price: { input: BigInt(version) },
  });
  const model = {
    id: "m",
    endpoint: "chat",
    input: "text",
    ownedBy: "svc",
    createdAtMs: 1,
    prices: [of(1), of(3), of(2)],
    routes: [],
    lifecycle: {},
  } as const;
  expect(priceOfReceipt([model], receiptOf({ model: "m", priceVersion: 2 }))).toEqual({
    input: 2n,
  });
  expect(priceOfReceipt([model], receiptOf({ model: "m", priceVersion: 4 }))).toBeUndefined();
  expect(priceOfReceipt([model], receiptOf({ model: "n", priceVersion: 1 }))).toBeUndefined();
});

test("a table for members has no column of vendors, and all others", () => {
  const hidden = [
    "provider",
    "attempts",
    "attempt_list",
    "vendor_cost_usd",
    "cost_version",
    "cost_route",
  ];
  expect(operatorColumns.names).toEqual(expect.arrayContaining(hidden));
  expect(memberColumns.names).toEqual(
    operatorColumns.names.filter((name) => !hidden.includes(name)),
  );
  expect(
    JSON.stringify(memberColumns.cells(receipt, { accounts: new Map(), keys: new Map() })),
  ).not.toContain("vendor");
});
