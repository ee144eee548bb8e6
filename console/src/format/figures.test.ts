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

test.each([
  [0.02, [0, 0.08, 0.1], ["$0", "$0.08", "$0.10"]],
  [0.025, [0.025, 0.05, 0.1], ["$0.025", "$0.050", "$0.100"]],
  [0.5, [0.5, 1, 1.5], ["$0.50", "$1.00", "$1.50"]],
  [0.00005, [0.00005, 0.0001], ["$0.00005", "$0.00010"]],
  [500, [500, 1_500], ["$500", "$1.5K"]],
])("labels of money that are %p apart have the same decimals", (step, values, labels) => {
  expect(values.map((value) => formatUsdAxis(value, step))).toEqual(labels);
});

test("counts and shares are rounded for the eye", () => {
  expect(formatCompact(1_234_567)).toBe("1.2M");
  expect(formatShare(0.0314)).toBe("3.1%");
  expect(formatShare(0)).toBe("0%");
  expect(formatShare(3 / 23_100)).toBe("<0.1%");
  expect(formatShare(0.001)).toBe("0.1%");
  expect(formatShare(1)).toBe("100%");
  expect(formatShare(0.99987)).toBe(">99.9%");
});
