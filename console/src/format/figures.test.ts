import { expect, test } from "bun:test";
import { formatBytes, formatCompact, formatMs, formatShare, formatUsdAxis } from "./figures.ts";

test("durations have the unit that suits them", () => {
  expect([0, 0.44, 9.96, 142.4, 999.4, 1_234, 59_000, 60_000, 90_000].map(formatMs)).toEqual([
    "0 ms",
    "0.4 ms",
    "10 ms",
    "142 ms",
    "999 ms",
    "1.23 s",
    "59 s",
    "1 min",
    "1 min 30 s",
  ]);
});

test("sizes are in steps of a thousand", () => {
  expect([0, 999, 1_500, 250_000, 7_200_000_000].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.5 kB",
    "250 kB",
    "7.2 GB",
  ]);
});

test("an axis of money is short, however small the amounts", () => {
  expect([0, 0.000123, 0.25, 12, 1_500].map(formatUsdAxis)).toEqual([
    "$0",
    "$0.00012",
    "$0.25",
    "$12",
    "$1.5K",
  ]);
});

test("counts and shares are rounded for the eye", () => {
  expect(formatCompact(1_234_567)).toBe("1.2M");
  expect(formatShare(0.0314)).toBe("3.1%");
});
