import { expect, test } from "bun:test";
import { shiftDecimal } from "./price.ts";

test("a cost a token becomes one a million, digit by digit", () => {
  for (const [written, expected] of [
    ["1.5e-07", "0.15"],
    ["1.5E-07", "0.15"],
    ["15e-8", "0.15"],
    ["0.00000015", "0.15"],
    [".00000015", "0.15"],
    ["+1.5e-7", "0.15"],
    ["0.000000075", "0.075"],
    ["2.5e-06", "2.5"],
    ["1e-05", "10"],
    ["1.e-5", "10"],
    ["3.75e-06", "3.75"],
    ["1.1e-14", "0.000000011"],
    ["0.0000001234567890123", "0.1234567890123"],
    ["0", "0"],
    ["0.0", "0"],
    ["0e10", "0"],
    ["12", "12000000"],
    ["1e+2", "100000000"],
  ] as const)
    expect([written, shiftDecimal(written, 6)]).toEqual([written, expected]);
});

test("what is no number of its kind is none", () => {
  for (const written of [
    "",
    ".",
    "e5",
    "-1e-7",
    "1_000",
    "0x10",
    "1e",
    "1e-07 USD",
    "nan",
    ".inf",
    "1,5",
    "1e999",
  ])
    expect([written, shiftDecimal(written, 6)]).toEqual([written, undefined]);
});
