import { expect, test } from "bun:test";
import { useOperations, withReports } from "../../../test/setup/operations-home.ts";
import { toUsd } from "../../base/money.ts";
import { billingOperations } from "./operations.ts";
import type { BillingView } from "./schemas.ts";

const usd = 1_000_000_000n;
const berlin = "Europe/Berlin";

let account: string;
const home = useOperations(async ({ operations, clock }) => {
  clock.ms = Date.parse("2027-01-10T09:00:00Z");
  account = (await operations.accounts.create({ name: "acme" })).id;
});

const at = (moment: string) => {
  home.clock.ms = Date.parse(moment);
};
const show = (time_zone: string, month?: string) =>
  home.operations.billing.show({ account, month, time_zone });
const spend = (nano: bigint, model = "m") =>
  home.receive({ accountId: account, keyId: "key_1", model, cost: nano, charged: nano });
const credit = (text: string) =>
  home.operations.entries.add({ account, kind: "credit", usd: text });

const linesOf = ({ ledger }: BillingView) =>
  ledger.lines.map(({ kind, at: when, amount_usd, balance_usd }) => [
    kind,
    when,
    amount_usd,
    balance_usd,
  ]);

test("after midnight in Berlin, entries and usage are of the same day and month", async () => {
  await credit("10");
  at("2027-01-31T22:30:00Z");
  await spend(usd);
  at("2027-01-31T23:10:00Z");
  await credit("5");
  at("2027-01-31T23:20:00Z");
  await spend(2n * usd);
  const february = await show(berlin);
  expect(linesOf(february)).toEqual([
    ["usage", "2027-02-01", "-2.00", "12.00"],
    ["credit", "2027-01-31T23:10:00Z", "5.00", "14.00"],
  ]);
  expect(february).toMatchObject({
    time_zone: berlin,
    spend: { month: "2027-02", charged_usd: "2.00" },
    ledger: { month: "2027-02", opening_usd: "9.00", closing_usd: "12.00", next_month: null },
  });
  expect(linesOf(await show(berlin, "2027-01"))).toEqual([
    ["usage", "2027-01-31", "-1.00", "9.00"],
    ["credit", "2027-01-10T09:00:00Z", "10.00", "10.00"],
  ]);
  expect((await show("UTC")).ledger).toMatchObject({ month: "2027-01", closing_usd: "12.00" });
  expect((await show("Asia/Kolkata")).time_zone).toBe("UTC");
  const months = [undefined, "2027-01"];
  const ask = (month?: string) => ({ account, month, time_zone: berlin });
  const read = await withReports(home, account, (dependencies) => {
    const billing = billingOperations(dependencies);
    return Promise.all(months.map((month) => billing.show(ask(month))));
  });
  expect(read).toEqual(await Promise.all(months.map((month) => show(berlin, month))));
});

test.each([berlin, "America/New_York", "Pacific/Kiritimati", "UTC"])(
  "in %s, every month opens where the one before closed, over changes of the clocks",
  async (zone) => {
    await credit("1000");
    let spent = 0n;
    for (let step = 1; step <= 60; step++) {
      // A week and some hours, so that all hours of a day come up.
      home.clock.ms += (7 * 24 + (step % 24)) * 3_600_000;
      const nano = BigInt(step) * 1_000_003n;
      spent += nano;
      await spend(nano, `m${step % 3}`);
    }
    const pages: BillingView[] = [await show(zone)];
    for (let month = pages[0]?.ledger.previous_month; month != null; ) {
      const page = await show(zone, month);
      pages.push(page);
      month = page.ledger.previous_month;
    }
    expect(pages.length).toBeGreaterThan(12);
    let closing = "0.00";
    for (const { ledger } of pages.toReversed()) {
      expect([ledger.month, ledger.opening_usd]).toEqual([ledger.month, closing]);
      closing = ledger.closing_usd;
      for (const { kind, at: day } of ledger.lines)
        if (kind === "usage") expect(day.slice(0, 7)).toBe(ledger.month);
    }
    expect(closing).toBe(toUsd(1000n * usd - spent));
    expect(pages.at(-1)?.time_zone).toBe(zone);
  },
);
