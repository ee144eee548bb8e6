import { expect, test } from "bun:test";
import { fromDecimal, toDecimal } from "./decimal.ts";

test("reads decimal text exactly, whatever floats would make of it", () => {
  expect(fromDecimal("0.30", 9)).toBe(300_000_000n);
  expect(fromDecimal("0.1", 18)).toBe(100_000_000_000_000_000n);
  expect(fromDecimal("123456789012345.000000001", 9)).toBe(123_456_789_012_345_000_000_001n);
  expect(fromDecimal("0", 9)).toBe(0n);
  expect(fromDecimal("2.5000000000000", 9)).toBe(2_500_000_000n);
});

test("refuses what is finer than the scale or is no plain decimal", () => {
  for (const text of [
    "0.0000000001",
    "1e-7",
    "-1",
    "+1",
    "1.",
    ".5",
    "0x10",
    "1_000",
    "",
    " 1",
    "NaN",
  ])
    expect(fromDecimal(text, 9)).toBeUndefined();
});

test("writes back what it read", () => {
  for (const text of ["0", "0.3", "2.5", "1000000", "0.000000001"]) {
    const units = fromDecimal(text, 9);
    expect(units === undefined ? undefined : toDecimal(units, 9)).toBe(text);
  }
  expect(toDecimal(300_000_000n, 9, 2)).toBe("0.30");
  expect(toDecimal(-5n, 1)).toBe("-0.5");
});
