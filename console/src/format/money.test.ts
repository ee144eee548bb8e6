import { expect, test } from "bun:test";
import { formatBalance, formatUsd, formatUsdExact } from "./money.ts";

test.each([
  ["0", "$0.00"],
  ["0.000000", "$0.00"],
  ["-0.00", "$0.00"],
  ["1", "$1.00"],
  ["1234567.891", "$1,234,567.89"],
  ["999.995", "$999.99"],
  ["-12.5", "−$12.50"],
  ["0.5", "$0.50"],
  ["0.5127", "$0.512"],
  ["0.0123", "$0.0123"],
  ["0.000123456", "$0.000123"],
  ["0.0009996", "$0.000999"],
  ["-0.000000001", "−$0.000000001"],
  ["123456789012345678.005", "$123,456,789,012,345,678.00"],
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
  ["-1.00019", "−$1.0001"],
])("a balance of %s is shown as %s", (text, shown) => {
  expect(formatBalance(text)).toBe(shown);
});

test("the exact form loses no digit", () => {
  expect(formatUsdExact("1234567.891234567")).toBe("$1,234,567.891234567");
  expect(formatUsdExact("-0.10")).toBe("−$0.10");
});
