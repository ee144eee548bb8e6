import { expect, test } from "bun:test";
import { countDays, daysBefore, dayWords, toDays } from "./period.ts";

test("an address has days or it has none", () => {
  expect(toDays("2026-11-01", "2026-11-10")).toEqual({ from: "2026-11-01", to: "2026-11-10" });
  expect(toDays("2026-11-01", undefined)).toBeUndefined();
  expect(toDays("2026-13-01", "2026-11-10")).toBeUndefined();
  expect(toDays("<script>", "2026-11-10")).toBeUndefined();
});

test("the days before are as many, across months and changes of the clock", () => {
  const march = { from: "2026-03-01", to: "2026-03-31" };
  expect(countDays(march)).toBe(31);
  expect(daysBefore(march)).toEqual({ from: "2026-01-29", to: "2026-02-28" });
  expect(daysBefore({ from: "2026-03-29", to: "2026-03-29" })).toEqual({
    from: "2026-03-28",
    to: "2026-03-28",
  });
});

test("days are said once", () => {
  expect(dayWords({ from: "2026-11-01", to: "2026-11-10" })).toBe("Nov 1 – Nov 10, 2026");
  expect(dayWords({ from: "2025-12-31", to: "2026-01-01" })).toBe("Dec 31, 2025 – Jan 1, 2026");
  expect(dayWords({ from: "2026-11-01", to: "2026-11-01" })).toBe("Nov 1, 2026");
});
