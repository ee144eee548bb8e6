import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  type OperationsHome,
  problemOf,
  useOperations,
} from "../../../test/setup/operations-home.ts";
import { Hold } from "../../ledger/purse.ts";
import type { MarginRow } from "./schemas.ts";

let acme: string;
const home = useOperations(async ({ operations }) => {
  acme = (await operations.accounts.create({ name: "acme" })).id;
  await operations.entries.add({ account: acme, kind: "credit", usd: "100" });
});

/** A receipt at a moment. */
async function at(
  moment: string,
  receipt: Parameters<OperationsHome["receive"]>[0],
): Promise<void> {
  home.clock.ms = Date.parse(moment);
  await home.receive(receipt);
}

test("sums that cannot be written show since when calls are missing, until they are written", async () => {
  await at("2027-03-15T12:10:00Z", { accountId: acme, keyId: "key_1", durationMs: 0 });
  await home.operations.accounts.show({ account: acme });
  using database = new Database(home.path);
  const hold = (sql: string) => database.run(sql);
  hold("create trigger held before insert on rollups begin select raise(abort, 'held back'); end");
  await at("2027-03-15T14:20:31Z", { accountId: acme, keyId: "key_1", durationMs: 0 });
  home.clock.ms += 51_000;
  const behind = { is_complete: false, as_of: "2027-03-15T14:20:31Z" };
  expect(await home.operations.accounts.show({ account: acme })).toMatchObject(behind);
  expect(await home.operations.billing.show({ account: acme })).toMatchObject(behind);
  expect(await home.operations.reports.margin({})).toMatchObject(behind);
  hold("drop trigger held");
  const complete = { is_complete: true, as_of: "2027-03-15T14:21:22Z" };
  expect(await home.operations.accounts.show({ account: acme })).toMatchObject(complete);
});

describe("an account shows", () => {
  test("its balance, what is held, and what it spent by day, model and key", async () => {
    const { operations } = home;
    const key = await operations.keys.create({ account: acme, name: "ci" });
    const mine = { accountId: acme, keyId: key.id };
    await at("2027-03-15T12:10:00Z", { ...mine, cost: 5n, charged: 5n, model: "other" });
    await at("2027-03-15T13:10:00Z", { ...mine, cost: 30n, charged: 10n });
    await at("2027-03-16T00:00:00Z", { ...mine, cost: 100n, charged: 100n, provider: "second" });
    for (const keyId of ["key_gone_1", "key_gone_2"])
      await at("2027-03-16T01:00:00Z", { accountId: acme, keyId, cost: 1n, charged: 1n });
    const purse = home.purses.find(acme);
    if (purse === undefined) throw new Error("no purse");
    Hold.take(1_000_000_000n, purse.pot, []);
    expect(await operations.accounts.show({ account: "acme" })).toEqual({
      id: acme,
      name: "acme",
      created_at: "2027-03-15T12:00:00Z",
      keys: 1,
      status: "active",
      balance_usd: "99.999999883",
      held_usd: "1.00",
      free_usd: "98.999999883",
      is_complete: true,
      as_of: expect.any(String),
      limits: { rpm: null, tpm: null, concurrency: null, budget: null },
      receipts_days: null,
      budget: null,
      receipts: 5,
      shortfall_usd: "0.00000002",
      spend: {
        by_day: [
          { day: "2027-03-15", receipts: 2, charged_usd: "0.000000015" },
          { day: "2027-03-16", receipts: 3, charged_usd: "0.000000102" },
        ],
        by_model: [
          { model: "svc-3-flash", receipts: 4, charged_usd: "0.000000112" },
          { model: "other", receipts: 1, charged_usd: "0.000000005" },
        ],
        by_key: [
          { key: key.id, name: "ci", receipts: 3, charged_usd: "0.000000115" },
          { key: "temporary", name: null, receipts: 2, charged_usd: "0.000000002" },
        ],
      },
      stored_responses: { responses: 0, bytes: 0 },
      key_list: [expect.objectContaining({ id: key.id, hint: key.hint })],
    });
    const { held_usd, free_usd, ...written } = await home.alone.accounts.show({ account: "acme" });
    expect([held_usd, free_usd]).toEqual(["0.00", "99.999999883"]);
    expect(written).toMatchObject({ balance_usd: "99.999999883", receipts: 5 });
  });

  test("receipts that a crash left out of the sums, too", async () => {
    await at("2027-03-15T12:10:00Z", { accountId: acme, keyId: "key_1", cost: 7n, charged: 7n });
    // Never flushed: the process that counted it in memory is gone.
    const shown = await home.alone.accounts.show({ account: acme });
    expect([shown.receipts, shown.spend.by_day]).toEqual([
      1,
      [{ day: "2027-03-15", receipts: 1, charged_usd: "0.000000007" }],
    ]);
    expect((await home.alone.accounts.show({ account: acme })).receipts).toBe(1);
    expect((await home.alone.reports.margin({})).total.receipts).toBe(1);
  });

  test("the list has balances as the server counts them, and counts keys that are not revoked", async () => {
    const { operations } = home;
    const empty = await operations.accounts.create({ name: "empty" });
    const { id } = await operations.keys.create({ account: acme });
    await operations.keys.create({ account: acme });
    await operations.keys.create({ account: empty.id });
    await operations.keys.revoke({ id });
    const purse = home.purses.find(acme);
    if (purse !== undefined) Hold.take(10n, purse.pot, [])?.settle(3n);
    const list = await operations.accounts.list({});
    expect(list.map(({ name, keys, balance_usd }) => [name, keys, balance_usd])).toEqual([
      ["acme", 1, "99.999999997"],
      ["empty", 1, "0.00"],
    ]);
  });
});

describe("the margin", () => {
  const usd = 1_000_000_000n;
  /** A row without its names of columns. */
  const cells = (row: MarginRow) => Object.values(row);

  const columns = [
    "name",
    "receipts",
    "charged_usd",
    "vendor_cost_usd",
    "margin_usd",
    "margin_percent",
    "charged_known_usd",
    "known_cost",
    "unknown_cost",
    "shortfall_usd",
  ];
  const march = {
    by: "model",
    from: "2027-03-01",
    to: "2027-03-15",
    time_zone: "UTC",
    is_complete: true,
    as_of: expect.any(String),
  };

  test("is what was charged without what vendors ask, and says where that is unknown", async () => {
    const { operations } = home;
    const other = (await operations.accounts.create({ name: "other" })).id;
    await operations.entries.add({ account: other, kind: "credit", usd: "1" });
    const mine = { accountId: acme, keyId: "key_1" };
    const theirs = { accountId: other, keyId: "key_2" };
    const paid = { cost: 3n * usd, charged: 3n * usd };
    await at("2027-03-15T12:00:00Z", { ...mine, ...paid, vendorCost: 2n * usd });
    await at("2027-03-15T12:30:00Z", { ...mine, ...paid, provider: "second" });
    const short = { cost: 2n * usd, charged: usd / 2n, vendorCost: 1_234_567_891n };
    await at("2027-03-15T13:00:00Z", { ...theirs, ...short, model: "dear" });
    await at("2027-03-15T13:30:00Z", { ...theirs, model: "free", provider: "", outcome: "failed" });

    const byModel = await operations.reports.margin({});
    const { rows, total, ...asked } = byModel;
    expect(asked).toEqual(march);
    expect(Object.keys(total)).toEqual(columns);
    expect([...rows, total].map(cells)).toEqual([
      ["svc-3-flash", 2, "6.00", "2.00", "1.00", "33.3", "3.00", 1, 1, "0.00"],
      ["dear", 1, "0.50", "1.234567891", "-0.734567891", "-146.9", "0.50", 1, 0, "1.50"],
      ["free", 1, "0.00", "0.00", "0.00", null, "0.00", 1, 0, "0.00"],
      ["total", 4, "6.50", "3.234567891", "0.265432109", "7.6", "3.50", 3, 1, "1.50"],
    ]);
    const namesBy = async (by: string) => {
      const { rows, total } = await operations.reports.margin({ by });
      expect(total).toEqual(byModel.total);
      return rows.map(({ name, charged_usd }) => [name, charged_usd]);
    };
    expect(await namesBy("account")).toEqual([
      ["acme", "6.00"],
      ["other", "0.50"],
    ]);
    expect(await namesBy("provider")).toEqual([
      ["fake", "3.50"],
      ["second", "3.00"],
      ["none", "0.00"],
    ]);
  });

  test("is unknown where no cost is known, and of the known calls alone where some are", async () => {
    const { operations } = home;
    const mine = { accountId: acme, keyId: "key_1", cost: usd, charged: usd };
    for (let call = 0; call < 4; call++) await at("2027-03-15T12:00:00Z", mine);
    const unknown = {
      charged_usd: "4.00",
      vendor_cost_usd: null,
      margin_usd: null,
      margin_percent: null,
      unknown_cost: 4,
    };
    expect((await operations.reports.margin({})).total).toMatchObject(unknown);
    // It reached no vendor, so it cost nothing.
    await at("2027-03-15T12:00:00Z", { ...mine, provider: "", cost: 0n, charged: 0n });
    expect((await operations.reports.margin({})).total).toMatchObject(unknown);
    // In the same hour, by the same route: the cost was set in between.
    await at("2027-03-15T12:30:00Z", { ...mine, vendorCost: usd / 4n });
    expect((await operations.reports.margin({})).total).toMatchObject({
      charged_usd: "5.00",
      charged_known_usd: "1.00",
      vendor_cost_usd: "0.25",
      margin_usd: "0.75",
      margin_percent: "75.0",
      known_cost: 2,
      unknown_cost: 4,
    });
  });

  test("has the days of a time zone, and those of UTC where hours do not add up to them", async () => {
    const { operations } = home;
    const one = { accountId: acme, keyId: "key_1", cost: 1n, charged: 1n };
    for (const moment of ["2027-03-14T22:59:00Z", "2027-03-14T23:00:00Z", "2027-03-15T23:00:00Z"])
      await at(moment, one);
    const day = { from: "2027-03-15", to: "2027-03-15" };
    const of = (time_zone: string) => operations.reports.margin({ ...day, time_zone });
    expect(await of("Europe/Berlin")).toMatchObject({
      ...day,
      time_zone: "Europe/Berlin",
      total: { receipts: 1 },
    });
    expect(await of("UTC")).toMatchObject({ time_zone: "UTC", total: { receipts: 1 } });
    expect(await of("Asia/Kolkata")).toMatchObject({ time_zone: "UTC" });
    // The month has begun in Berlin.
    home.clock.ms = Date.parse("2027-03-31T22:30:00Z");
    const month = await operations.reports.margin({ time_zone: "Europe/Berlin" });
    expect([month.from, month.to]).toEqual(["2027-04-01", "2027-04-01"]);
  });

  test("counts the first and the last day whole, and nothing beside them", async () => {
    const { operations } = home;
    const one = { accountId: acme, keyId: "key_1", cost: 1n, charged: 1n };
    const [before, after] = ["2027-02-28T23:59:59Z", "2027-03-03T00:00:00Z"];
    for (const moment of [before, "2027-03-01T00:00:00Z", "2027-03-02T23:59:59Z", after])
      await at(moment, one);
    const count = async (from?: string, to?: string) =>
      (await operations.reports.margin(JSON.parse(JSON.stringify({ from, to })))).total.receipts;
    expect(await count("2027-03-01", "2027-03-02")).toBe(2);
    expect(await count("2027-02-28", "2027-02-28")).toBe(1);
    expect(await count()).toBe(3);
    expect(await count("2027-02-01")).toBe(4);
    expect(await count(undefined, "2027-02-28")).toBe(1);
  });

  test("is refused for days that are none, and names the field", async () => {
    const { operations } = home;
    const cases: readonly (readonly [object, string, string])[] = [
      [{ by: "colour" }, "by", "by must be model, account or provider"],
      [{ from: "yesterday" }, "from", "must be a day"],
      [{ to: "2027-02-30" }, "to", "must be a day"],
      [{ from: "2027-03-02", to: "2027-03-01" }, "from", "must not be after the last"],
      [{ from: "1970-01-01" }, "from", "ten years"],
      [{ time_zone: "Mars/Base" }, "time_zone", "IANA name"],
    ];
    for (const [input, field, says] of cases)
      expect(await problemOf(operations.reports.margin(input))).toEqual({
        code: "invalid",
        field,
        message: expect.stringContaining(says),
      });
  });
});
