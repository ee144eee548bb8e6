import { afterEach, expect, test } from "bun:test";
import {
  browserZone,
  dayOf,
  dayStart,
  dayZone,
  formatDate,
  formatExact,
  formatMoment,
  formatRelative,
  setTimeZone,
  timeZone,
} from "./moments.ts";

const nowMs = Date.parse("2026-03-10T12:00:00Z");
const away = (seconds: number) => formatRelative(nowMs + seconds * 1_000, nowMs);
const usual = process.env["TZ"];
afterEach(() => beIn(usual ?? ""));

/** A browser in this zone, whose reader has chosen local times. */
function beIn(zone: string): void {
  process.env["TZ"] = zone;
  setTimeZone("utc");
  setTimeZone("local");
}

test("a time is said as people say it", () => {
  expect(away(-2)).toBe("just now");
  expect(away(-40)).toBe("40 seconds ago");
  expect(away(-119)).toBe("1 minute ago");
  expect(away(-3 * 3_600)).toBe("3 hours ago");
  expect(away(-86_400)).toBe("yesterday");
  expect(away(6 * 86_400 - 5)).toBe("in 6 days");
  expect(away(-60 * 86_400)).toBe("Jan 9, 2026");
});

test("days and times follow the zone that was chosen", () => {
  const atMs = Date.parse("2026-11-15T23:02:31Z");
  beIn("Europe/Berlin");
  expect([timeZone(), dayOf(atMs), formatMoment(atMs)]).toEqual([
    "Europe/Berlin",
    "2026-11-16",
    "Nov 16, 2026, 00:02",
  ]);
  expect(formatExact(atMs)).toBe("Nov 16, 2026, 00:02:31 GMT+1");
  expect(dayStart("2026-11-16")).toBe(Date.parse("2026-11-15T23:00:00Z"));
  setTimeZone("utc");
  expect([timeZone(), dayOf(atMs), formatMoment(atMs, "time")]).toEqual([
    "UTC",
    "2026-11-15",
    "23:02:31",
  ]);
  expect(dayStart("2026-11-16")).toBe(Date.parse("2026-11-16T00:00:00Z"));
});

test("sums by day are in UTC where clocks are off by half an hour", () => {
  const span = [nowMs, nowMs + 30 * 86_400_000] as const;
  beIn("Asia/Kolkata");
  expect([timeZone(), dayZone(...span)]).toEqual(["Asia/Kolkata", "UTC"]);
  beIn("America/New_York");
  expect(dayZone(...span)).toBe("America/New_York");
});

test("a date is the same in every zone", () => {
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    beIn(zone);
    expect(formatDate("2026-11-16")).toBe("Nov 16, 2026");
  }
});

test("the zone has the name that people know", () => {
  beIn("Asia/Calcutta");
  expect([timeZone(), browserZone()]).toEqual(["Asia/Kolkata", "Asia/Kolkata"]);
});
