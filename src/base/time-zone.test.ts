import { expect, test } from "bun:test";
import {
  addDays,
  dayOf,
  dayStart,
  dayStarts,
  hasWholeHours,
  isTimeZone,
  modernZone,
  offsetMs,
  zoneOffsets,
} from "./time-zone.ts";

const hourMs = 3_600_000;
const ms = (text: string) => Date.parse(text);

test.each([
  ["UTC", "2026-11-16", "2026-11-16T00:00:00Z"],
  ["Europe/Berlin", "2026-11-16", "2026-11-15T23:00:00Z"],
  ["Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"],
  ["Asia/Kolkata", "2026-11-16", "2026-11-15T18:30:00Z"],
  ["Pacific/Kiritimati", "2026-11-16", "2026-11-15T10:00:00Z"],
  ["Pacific/Pago_Pago", "2026-11-16", "2026-11-16T11:00:00Z"],
  // Clocks jump from 00:00 to 01:00 there: the day has no midnight.
  ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"],
])("in %s, %s begins at %s", (zone, day, start) => {
  const startMs = dayStart(day, zone);
  expect(new Date(startMs).toISOString()).toBe(new Date(start).toISOString());
  expect([dayOf(startMs - 1, zone), dayOf(startMs, zone)]).toEqual([addDays(day, -1), day]);
});

test("in Berlin, the days on which clocks change have 23 and 25 hours", () => {
  const hours = (day: string) =>
    (dayStart(addDays(day, 1), "Europe/Berlin") - dayStart(day, "Europe/Berlin")) / hourMs;
  expect(["2026-03-28", "2026-03-29", "2026-03-30"].map(hours)).toEqual([24, 23, 24]);
  expect(["2026-10-24", "2026-10-25", "2026-10-26"].map(hours)).toEqual([24, 25, 24]);
});

test("the offsets of a year change when the clocks do", () => {
  const of = { fromMs: ms("2026-01-01T00:00:00Z"), toMs: ms("2027-01-01T00:00:00Z") };
  expect(zoneOffsets({ ...of, timeZone: "Europe/Berlin" })).toEqual([
    { fromMs: of.fromMs, offsetMs: hourMs },
    { fromMs: ms("2026-03-29T01:00:00Z"), offsetMs: 2 * hourMs },
    { fromMs: ms("2026-10-25T01:00:00Z"), offsetMs: hourMs },
  ]);
  expect(zoneOffsets({ ...of, timeZone: "UTC" })).toEqual([{ fromMs: of.fromMs, offsetMs: 0 }]);
});

test("the starts of days in a row are those of each of them", () => {
  for (const timeZone of ["UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Asia/Tokyo"]) {
    const days = Array.from({ length: 365 }, (_, at) => addDays("2026-01-01", at));
    const fromMs = dayStart("2026-01-01", timeZone);
    const offsets = zoneOffsets({ timeZone, fromMs, toMs: fromMs + 366 * 24 * hourMs });
    expect(dayStarts(days, offsets)).toEqual(days.map((day) => dayStart(day, timeZone)));
  }
});

test("hours do not add up to days where clocks are off by half an hour", () => {
  const of = { fromMs: ms("2026-01-01T00:00:00Z"), toMs: ms("2026-02-01T00:00:00Z") };
  const isWhole = (timeZone: string) => hasWholeHours(zoneOffsets({ ...of, timeZone }));
  expect(["UTC", "Europe/Berlin", "America/New_York"].map(isWhole)).toEqual([true, true, true]);
  expect(["Asia/Kolkata", "Asia/Kathmandu"].map(isWhole)).toEqual([false, false]);
});

test("days are counted by the calendar", () => {
  expect(addDays("2027-02-28", 1)).toBe("2027-03-01");
  expect(addDays("2028-03-01", -1)).toBe("2028-02-29");
  expect(addDays("2026-03-29", 1)).toBe("2026-03-30");
});

test("a time zone is an IANA name", () => {
  expect(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"].every(isTimeZone)).toBe(true);
  for (const name of ["", "Mars/Base", "+02:00", "Europe/Berlin; drop", "a".repeat(500), "../x"])
    expect([name, isTimeZone(name)]).toEqual([name, false]);
});

test("of many time zones, each keeps its own clock", () => {
  const zones = Intl.supportedValuesOf("timeZone");
  expect(zones.length).toBeGreaterThan(100);
  const atMs = ms("2026-07-01T12:00:00Z");
  for (const zone of zones) offsetMs(atMs, zone);
  expect(offsetMs(atMs, "Europe/Berlin")).toBe(2 * hourMs);
});

test("a renamed zone has its modern name, and both names keep the same clock", () => {
  const atMs = ms("2026-07-01T12:00:00Z");
  for (const [old, modern] of [
    ["Asia/Calcutta", "Asia/Kolkata"],
    ["Europe/Kiev", "Europe/Kyiv"],
    ["America/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["Europe/Berlin", "Europe/Berlin"],
    ["UTC", "UTC"],
  ] as const) {
    expect(modernZone(old)).toBe(modern);
    expect(modernZone(modern)).toBe(modern);
    expect(offsetMs(atMs, old)).toBe(offsetMs(atMs, modern));
  }
});
