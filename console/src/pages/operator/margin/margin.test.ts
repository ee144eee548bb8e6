import { expect, test } from "bun:test";
import { daysOf, toRange } from "./days.ts";
import { marginCsv } from "./margin.ts";

const row = {
  name: "svc-3-flash",
  receipts: 12,
  charged_usd: "3.50",
  vendor_cost_usd: "4.25",
  margin_usd: "-0.75",
  margin_percent: "-21.4",
  unknown_cost: 2,
  shortfall_usd: "0.00",
};

test("the file has a line a row and the total last", () => {
  const csv = marginCsv([row], { ...row, name: "total", margin_percent: null });
  expect(csv.split("\r\n")).toEqual([
    "name,receipts,charged_usd,vendor_cost_usd,margin_usd,margin_percent,unknown_cost,shortfall_usd",
    "svc-3-flash,12,3.50,4.25,-0.75,-21.4,2,0.00",
    "total,12,3.50,4.25,-0.75,,2,0.00",
    "",
  ]);
});

test("a name cannot break out of its cell or become a formula", () => {
  const [, first, second] = marginCsv([{ ...row, name: 'a,"b"' }], { ...row, name: "=1+1" }).split(
    "\r\n",
  );
  expect(first).toStartWith('"a,""b""",12');
  expect(second).toStartWith("'=1+1,12");
});

test("ranges are days of UTC, both counted", () => {
  const nowMs = Date.parse("2027-03-01T23:30:00Z");
  expect(daysOf("month", nowMs)).toEqual({ from: "2027-03-01", to: "2027-03-01" });
  expect(daysOf("last-month", nowMs)).toEqual({ from: "2027-02-01", to: "2027-02-28" });
  expect(daysOf("30d", nowMs)).toEqual({ from: "2027-01-31", to: "2027-03-01" });
  expect(daysOf("year", nowMs)).toEqual({ from: "2027-01-01", to: "2027-03-01" });
  expect(toRange("anything else")).toBe("month");
});
