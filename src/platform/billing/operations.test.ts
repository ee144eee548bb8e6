import { describe, expect, test } from "bun:test";
import { problemOf, useOperations, withReports } from "../../../test/setup/operations-home.ts";
import { fromUsd, toUsd } from "../../base/money.ts";
import { type BillingOperations, billingOperations } from "./operations.ts";
import type { BillingView } from "./schemas.ts";

let account: string;
const home = useOperations(async ({ operations, clock }) => {
  clock.ms = Date.parse("2027-01-10T09:00:00Z");
  account = (await operations.accounts.create({ name: "acme" })).id;
});

const at = (moment: string) => {
  home.clock.ms = Date.parse(moment);
};
const show = (month?: string) =>
  home.operations.billing.show({ account, ...(month === undefined ? {} : { month }) });
const enter = (kind: "credit" | "withdrawal" | "refund", usd: string) =>
  home.operations.entries.add({ account, kind, usd });
const spend = (nano: bigint, model = "svc-3-flash", keyId = "key_1") =>
  home.receive({ accountId: account, keyId, model, cost: nano, charged: nano });
const nanoOf = (text: string) => {
  const size = fromUsd(text.replace("-", ""));
  if (size === undefined) throw new Error(`not money: ${text}`);
  return text.startsWith("-") ? -size : size;
};
const usd = 1_000_000_000n;

/** All months, the newest first. */
async function pages(billing: BillingOperations = home.operations.billing): Promise<BillingView[]> {
  const all = [await billing.show({ account })];
  for (let month = all[0]?.ledger.previous_month; month != null; ) {
    const page = await billing.show({ account, month });
    all.push(page);
    month = page.ledger.previous_month;
  }
  return all;
}

const withThread = <T>(use: (billing: BillingOperations) => Promise<T>) =>
  withReports(home, account, (dependencies) => use(billingOperations(dependencies)));

describe("the ledger of an account", () => {
  test("has entries with their moments and each model's use a day, with the balance after each", async () => {
    await enter("credit", "10");
    await spend(2n * usd, "dear");
    await spend(usd / 2n, "cheap");
    at("2027-01-10T20:00:00Z");
    await spend(usd / 2n, "cheap");
    await enter("withdrawal", "3");
    at("2027-01-12T00:00:00Z");
    await spend(usd, "dear");
    const { ledger, ...rest } = await show();
    expect(rest).toMatchObject({ balance_usd: "3.00", held_usd: "0.00", free_usd: "3.00" });
    expect(
      ledger.lines.map((line) => [
        line.kind,
        line.at,
        line.model,
        line.receipts,
        line.amount_usd,
        line.balance_usd,
      ]),
    ).toEqual([
      ["usage", "2027-01-12", "dear", 1, "-1.00", "3.00"],
      ["usage", "2027-01-10", "dear", 1, "-2.00", "4.00"],
      ["usage", "2027-01-10", "cheap", 2, "-1.00", "6.00"],
      ["withdrawal", "2027-01-10T20:00:00Z", null, null, "-3.00", "7.00"],
      ["credit", "2027-01-10T09:00:00Z", null, null, "10.00", "10.00"],
    ]);
    expect(ledger).toMatchObject({
      month: "2027-01",
      previous_month: null,
      next_month: null,
      opening_usd: "0.00",
      closing_usd: "3.00",
    });
    expect(ledger.lines[4]?.reference).toStartWith("entry_");
  });

  test("has a page a month, and refuses months that the account has not seen", async () => {
    await enter("credit", "10");
    await spend(usd);
    at("2027-03-01T00:00:00Z");
    await spend(2n * usd);
    const [march, february, january, ...more] = await pages();
    expect(more).toEqual([]);
    expect(march?.ledger).toMatchObject({
      month: "2027-03",
      previous_month: "2027-02",
      next_month: null,
      opening_usd: "9.00",
      closing_usd: "7.00",
    });
    expect(february?.ledger).toEqual({
      month: "2027-02",
      previous_month: "2027-01",
      next_month: "2027-03",
      opening_usd: "9.00",
      closing_usd: "9.00",
      lines: [],
    });
    expect(january?.ledger.lines).toHaveLength(2);
    // What is spent and foreseen is of now, whichever page is asked for.
    expect(january).toMatchObject({ balance_usd: "7.00", spend: { month: "2027-03" } });
    expect(january?.spend).toEqual(march?.spend);
    for (const month of ["2026-12", "2027-04", "2027-13", "2027", "2027-1", "now", "2027-01-01"])
      expect((await problemOf(show(month))).code).toBe("invalid");
    expect((await problemOf(home.operations.billing.show({ account: "no" }))).code).toBe(
      "not_found",
    );
  });

  test("knows nothing of other accounts", async () => {
    await home.operations.accounts.create({ name: "other" });
    const other = await home.operations.accounts.show({ account: "other" });
    await home.operations.entries.add({ account: other.id, kind: "credit", usd: "5" });
    await home.receive({ accountId: other.id, keyId: "key_2", cost: usd, charged: usd });
    expect(await show()).toMatchObject({
      balance_usd: "0.00",
      spend: { receipts: 0, by_model: [] },
      ledger: { lines: [] },
    });
  });

  test("of many years is read by the thread to its beginning", async () => {
    await enter("credit", "10");
    await spend(usd);
    at("2036-01-10T09:00:00Z");
    await spend(usd);
    const first = { account, month: "2027-01" };
    const shown = await withThread((billing) => billing.show(first));
    expect(shown.ledger).toMatchObject({ opening_usd: "0.00", closing_usd: "9.00" });
    expect(shown.balance_usd).toBe("8.00");
  });

  test("is the same without a server", async () => {
    await enter("credit", "10");
    await spend(usd);
    const running = await show();
    expect(await home.alone.billing.show({ account })).toEqual(running);
  });

  test("shows what calls under way hold", async () => {
    await enter("credit", "10");
    const pot = home.purses.find(account)?.pot;
    if (pot === undefined) throw new Error("no purse");
    pot.held += 4n * usd;
    expect(await show()).toMatchObject({
      balance_usd: "10.00",
      held_usd: "4.00",
      free_usd: "6.00",
    });
  });
});

/** The same numbers for the same seed. */
function randomOf(seed: number) {
  let state = seed;
  return (most: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

describe("a random history", () => {
  for (const seed of [1, 2, 3, 4, 5])
    test(`adds up line by line, page by page, to the account's balance (${seed})`, async () => {
      const random = randomOf(seed);
      /** In the order of the ledger: by day, entries before use. */
      const made: { readonly atMs: number; readonly nano: bigint }[] = [];
      let balance = 0n;
      for (let step = 0; step < 60; step++) {
        home.clock.ms += random(60) * 3_600_000 + random(3_600_000);
        const atMs = home.clock.ms;
        const nano = BigInt(random(2 ** 31)) * BigInt(1 + random(50));
        const what = random(10);
        if (what < 2 || balance === 0n) {
          await enter(what === 0 ? "refund" : "credit", toUsd(nano + 1n));
          made.push({ atMs, nano: nano + 1n });
        } else {
          const most = nano < balance ? nano : balance;
          if (what === 2 && most > 0n) await enter("withdrawal", toUsd(most));
          else await spend(most, `model-${random(3)}`, `key_${random(4)}`);
          made.push({ atMs, nano: -most });
        }
        balance = made.reduce((sum, { nano: moved }) => sum + moved, 0n);
      }
      const all = await pages();
      // Its start costs more than the rest of the test: one history is enough.
      if (seed === 1) expect(await withThread((operations) => pages(operations))).toEqual(all);
      const [newest] = all;
      const shown = await home.operations.accounts.show({ account });
      expect(newest?.balance_usd).toBe(shown.balance_usd);
      expect(newest?.ledger.closing_usd).toBe(toUsd(balance));
      expect(all.at(-1)?.ledger.opening_usd).toBe("0.00");
      let expected = 0n;
      for (const { ledger } of all.toReversed()) {
        expect(ledger.opening_usd).toBe(toUsd(expected));
        const startMs = Date.parse(`${ledger.month}-01`);
        for (const line of ledger.lines.toReversed()) {
          expect(Date.parse(line.at)).toBeGreaterThanOrEqual(startMs);
          expected += nanoOf(line.amount_usd);
          expect(line.balance_usd).toBe(toUsd(expected));
          expect(expected).toBeGreaterThanOrEqual(0n);
        }
        expect(ledger.closing_usd).toBe(toUsd(expected));
        const endMs = new Date(startMs).setUTCMonth(new Date(startMs).getUTCMonth() + 1);
        const until = made.filter(({ atMs }) => atMs < endMs);
        expect(expected).toBe(until.reduce((sum, { nano }) => sum + nano, 0n));
      }
    });
});

describe("the spend of a month and what it leads to", () => {
  test("is summed by model, the dearest first", async () => {
    await enter("credit", "100");
    at("2027-01-31T23:59:59Z");
    await spend(50n * usd, "before");
    at("2027-02-01T00:00:00Z");
    for (const nano of [1n, 2n]) await spend(nano * usd, "b");
    await spend(4n * usd, "a");
    expect((await show()).spend).toEqual({
      month: "2027-02",
      receipts: 3,
      charged_usd: "7.00",
      by_model: [
        { model: "a", receipts: 1, charged_usd: "4.00" },
        { model: "b", receipts: 2, charged_usd: "3.00" },
      ],
    });
  });

  test("goes on as on the last seven full days, today not counted among them", async () => {
    await enter("credit", "100");
    at("2027-02-13T23:00:00Z");
    await spend(30n * usd);
    for (const day of ["14", "15", "20"]) {
      at(`2027-02-${day}T10:00:00Z`);
      await spend(7n * usd);
    }
    at("2027-02-21T12:00:00Z");
    await spend(2n * usd);
    // 21 USD in 7 days; 7.5 days of February are left; 47 USD are left of 100.
    expect(await show()).toMatchObject({
      spend: { charged_usd: "53.00" },
      forecast_usd: "75.50",
      forecast_basis:
        "21.00 USD was spent over the last 7 full days (2027-02-14 to 2027-02-20). The forecast assumes that pace for the rest of the month, on top of the 53.00 USD spent so far.",
      runs_out_at: "2027-03-09T04:00:00Z",
    });
  });

  test("reaches back into the month before", async () => {
    await enter("credit", "100");
    at("2027-01-31T10:00:00Z");
    await spend(7n * usd);
    at("2027-02-01T00:00:00Z");
    expect(await show()).toMatchObject({ spend: { charged_usd: "0.00" }, forecast_usd: "28.00" });
  });

  test("of a young account goes by the full days that there are", async () => {
    await enter("credit", "100");
    await spend(usd);
    expect(await show()).toMatchObject({
      forecast_usd: null,
      forecast_basis: "No full day of usage yet.",
      runs_out_at: null,
    });
    at("2027-01-11T06:00:00Z");
    expect((await show()).forecast_usd).toBeNull();
    await spend(3n * usd);
    at("2027-01-12T00:00:00Z");
    expect(await show()).toMatchObject({ forecast_usd: "64.00" });
    expect((await show()).forecast_basis).toStartWith(
      "3.00 USD was spent on the last full day (2027-01-11).",
    );
  });

  test("says no day of running out where nothing is spent, or only in ages", async () => {
    await enter("credit", "1000000");
    at("2027-01-20T00:00:00Z");
    expect(await show()).toMatchObject({ forecast_usd: "0.00", runs_out_at: null });
    await spend(1n);
    at("2027-01-21T00:00:00Z");
    expect((await show()).runs_out_at).toBeNull();
  });

  test("of an account with nothing left has run out now", async () => {
    await enter("credit", "1");
    at("2027-01-20T00:00:00Z");
    await spend(usd);
    at("2027-01-21T00:00:00Z");
    expect((await show()).runs_out_at).toBe("2027-01-21T00:00:00Z");
  });
});

test("sums that are written while the books are read are read again", async () => {
  await enter("credit", "10");
  await spend(usd);
  let reads = 0;
  const operations = home.on({
    ledger: {
      async entries(id) {
        // Once: a call ends, and its sum is written between two looks.
        if (reads++ === 0) {
          await spend(2n * usd);
          await home.operations.accounts.show({ account });
        }
        return home.store.ledger.entries(id);
      },
    },
  });
  const { ledger, balance_usd } = await operations.billing.show({ account });
  expect(reads).toBe(2);
  expect(balance_usd).toBe("7.00");
  expect(ledger).toMatchObject({ opening_usd: "0.00", closing_usd: "7.00" });
});
