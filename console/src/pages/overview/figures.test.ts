import { expect, test } from "bun:test";
import { formatAboutMs } from "./figures.ts";

test.each([
  [0, "0 ms"],
  [4, "4 ms"],
  [17, "17 ms"],
  [847, "850 ms"],
  [994, "990 ms"],
  [996, "1 s"],
  [1_234, "1.2 s"],
  [12_800, "13 s"],
  [59_700, "1 min"],
  [94_000, "1.6 min"],
  [780_000, "13 min"],
])("%d ms is shown as %s", (ms, shown) => {
  expect(formatAboutMs(ms)).toBe(shown);
});
