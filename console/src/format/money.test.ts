import { expect, test } from "bun:test";
import {
  formatBalance,
  formatBalanceTo,
  formatUsd,
  formatUsdExact,
  formatUsdTo,
  usdPlaces,
} from "./money.ts";

test.each([
  ["0", "$0.00"],
  ["0.000000", "$0.00"],
  ["-0.00", "$0.00"],
  ["1", "$1.00"],
  ["1234567.891", "$1,234,567.89"],
  ["999.995", "$1,000.00"],
  ["999.994", "$999.99"],
  ["-12.5", "−$12.50"],
  ["0.5", "$0.50"],
  ["0.5127", "$0.513"],
  ["0.016571", "$0.0166"],
  ["0.9996", "$1.00"],
  ["0.0123", "$0.0123"],
  ["0.000123456", "$0.000123"],
  ["0.0009996", "$0.001"],
  ["-0.016571", "−$0.0166"],
  ["-0.000000001", "−$0.000000001"],
  ["123456789012345678.005", "$123,456,789,012,345,678.01"],
  ["much", "much"],
])("%s is shown as %s", (text, shown) => {
  expect(formatUsd(text)).toBe(shown);
});

test.each([
  ["25", "$25.00"],
  ["4.9987", "$4.9987"],
  ["4.99879", "$4.9987"],
  ["4.5", "$4.50"],
  ["0.51279", "$0.5127"],
  ["0.00001239", "$0.0000123"],
  ["-1.00019", "−$1.0002"],
  ["0.99999", "$0.9999"],
])("a balance of %s is shown as %s", (text, shown) => {
  expect(formatBalance(text)).toBe(shown);
});

test("the exact form loses no digit", () => {
  expect(formatUsdExact("1234567.891234567")).toBe("$1,234,567.891234567");
  expect(formatUsdExact("-0.10")).toBe("−$0.10");
  expect(formatUsdExact("40")).toBe("$40.00");
});

test("a column keeps one scale: that of its largest amount", () => {
  const column = ["0.00295", "0.00000354", "0.000055", "0", "-0.00295"];
  const places = usdPlaces(column);
  expect(column.map((usd) => formatUsdTo(usd, places))).toEqual([
    "$0.00295",
    "<$0.00001",
    "$0.00006",
    "$0.00000",
    "−$0.00295",
  ]);
  expect(formatUsdTo("-0.00000354", places)).toBe("−<$0.00001");
  const dear = ["1234.5", "0.004", "0.005"];
  expect(dear.map((usd) => formatUsdTo(usd, usdPlaces(dear)))).toEqual([
    "$1,234.50",
    "<$0.01",
    "$0.01",
  ]);
  expect(usdPlaces([])).toBe(2);
});

test("balances of a column have the same decimals, rounded down", () => {
  expect(["243.96", "240.83699", "-0.00001", "0"].map((usd) => formatBalanceTo(usd))).toEqual([
    "$243.9600",
    "$240.8369",
    "−$0.0001",
    "$0.0000",
  ]);
});
