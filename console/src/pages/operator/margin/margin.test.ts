import { expect, test } from "bun:test";
import { daysOf, toRange } from "./days.ts";
import { costWords, marginCsv, percentWords } from "./margin.ts";

const row = {
  name: "svc-3-flash",
  receipts: 12,
  charged_usd: "3.50",
  vendor_cost_usd: "4.25",
  margin_usd: "-0.75",
  margin_percent: "-21.4",
  charged_known_usd: "3.50",
  known_cost: 10,
  unknown_cost: 2,
  shortfall_usd: "0.00",
};

test("the file has a line a row and the total last", () => {
  const csv = marginCsv({
    rows: [row],
    total: { ...row, name: "total", margin_percent: null, margin_usd: null },
    as_of: "2027-03-15T14:20:31.000Z",
  });
  expect(csv.split("\r\n")).toEqual([
    "name,receipts,charged_usd,vendor_cost_usd,margin_usd,margin_percent,charged_known_usd,known_cost,unknown_cost,shortfall_usd,as_of",
    "svc-3-flash,12,3.50,4.25,-0.75,-21.4,3.50,10,2,0.00,2027-03-15T14:20:31.000Z",
    "total,12,3.50,4.25,,,3.50,10,2,0.00,2027-03-15T14:20:31.000Z",
    "",
  ]);
});

test("a name cannot break out of its cell or become a formula", () => {
  const [, first, second] = marginCsv({
    rows: [{ ...row, name: 'a,"b"' }],
    total: { ...row, name: "=1+1" },
    as_of: "2027-03-15T14:20:31.000Z",
  }).split("\r\n");
  expect(first).toStartWith('"a,""b""",12');
  expect(second).toStartWith("'=1+1,12");
});

test("ranges are days, both counted", () => {
  const today = "2027-03-01";
  expect(daysOf("month", today)).toEqual({ from: "2027-03-01", to: "2027-03-01" });
  expect(daysOf("last-month", today)).toEqual({ from: "2027-02-01", to: "2027-02-28" });
  expect(daysOf("30d", today)).toEqual({ from: "2027-01-31", to: "2027-03-01" });
  expect(daysOf("year", today)).toEqual({ from: "2027-01-01", to: "2027-03-01" });
  expect(toRange("anything else")).toBe("month");
});

test.each([
  [{ known_cost: 0, unknown_cost: 1_404, receipts: 1_404 }, "Unknown for all 1,404 requests"],
  [{ known_cost: 1, unknown_cost: 1_403, receipts: 1_404 }, "Unknown for 1,403 of 1,404 requests"],
  [{ known_cost: 3, unknown_cost: 0, receipts: 3 }, "Known for all 3 requests"],
  [{ known_cost: 1, unknown_cost: 0, receipts: 1 }, "Known for the only request"],
  [{ known_cost: 0, unknown_cost: 1, receipts: 1 }, "Unknown for the only request"],
])("of %j it is said: %s", (counts, words) => {
  expect(costWords(counts)).toBe(words);
});

test("a percentage has thousands separators", () => {
  expect(["-80150.0", "26.8", "0.0"].map(percentWords)).toEqual(["−80,150.0%", "26.8%", "0.0%"]);
});
