import { afterAll, beforeAll, expect, test } from "bun:test";
import { setTimeZone } from "../../format/moments.ts";
import { lifecycleWords } from "./lifecycle.ts";

beforeAll(() => setTimeZone("utc"));
afterAll(() => setTimeZone("local"));

const nowMs = Date.parse("2026-11-16T09:00:00Z");
const active = {
  status: "active",
  deprecated_at: null,
  retires_at: null,
  replacement: null,
} as const;
const moved = { ...active, deprecated_at: "2026-11-01T00:00:00Z", replacement: "svc-3-flash" };

test("of a model that stays nothing is said", () => {
  expect(lifecycleWords(active, nowMs)).toBeUndefined();
});

test.each([
  [
    "in months",
    "2027-01-31T00:00:00Z",
    "Retires on Jan 31, 2027, in 76 days. After that, calls are rejected.",
  ],
  [
    "within a day",
    "2026-11-17T00:00:00Z",
    "Retires on Nov 17, 2026, in 1 day. After that, calls are rejected.",
  ],
  [
    "in more than a day",
    "2026-11-17T12:00:00Z",
    "Retires on Nov 17, 2026, in 2 days. After that, calls are rejected.",
  ],
  ["on no known day", null, "Still available. No retirement date yet."],
])("a deprecated model that retires %s says so, with what to use", (_, retires_at, words) => {
  expect(lifecycleWords({ ...moved, status: "deprecated", retires_at }, nowMs)).toEqual({
    words,
    successor: "svc-3-flash",
  });
});

test("one that is to be deprecated says when that is, and when it ends", () => {
  const soon = { ...moved, deprecated_at: "2026-12-01T00:00:00Z" };
  const retires_at = "2027-03-01T00:00:00Z";
  expect(lifecycleWords({ ...soon, retires_at }, nowMs)?.words).toBe(
    "Will be deprecated on Dec 1, 2026, in 15 days, and retires on Mar 1, 2027.",
  );
  expect(lifecycleWords(soon, nowMs)?.words).toBe("Will be deprecated on Dec 1, 2026, in 15 days.");
});

test("a retired one says since when", () => {
  const retired = { ...moved, status: "retired", retires_at: "2026-11-10T00:00:00Z" } as const;
  expect(lifecycleWords(retired, nowMs)).toEqual({
    words: "Retired on Nov 10, 2026.",
    successor: "svc-3-flash",
  });
});
