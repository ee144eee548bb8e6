import { expect, test } from "bun:test";
import { customSpan, spanBefore, spanOf } from "./span.ts";

const hourMs = 3_600_000;
const ms = (text: string) => Date.parse(text);
const hours = ({ startsMs, toMs }: { startsMs: readonly number[]; toMs: number }) =>
  startsMs.map((startMs, at) => ((startsMs[at + 1] ?? toMs) - startMs) / hourMs);

test("in Berlin, today's bar is today's, also just after midnight there", () => {
  const nowMs = ms("2026-11-15T23:13:00Z");
  const berlin = spanOf("30d", nowMs, "Europe/Berlin");
  expect([berlin.timeZone, berlin.startsMs.at(-1), berlin.keysMs.at(-1)]).toEqual([
    "Europe/Berlin",
    ms("2026-11-15T23:00:00Z"),
    ms("2026-11-16T00:00:00Z"),
  ]);
  expect(berlin.toMs).toBe(ms("2026-11-16T23:00:00Z"));
  const utc = spanOf("30d", nowMs);
  expect([utc.timeZone, utc.startsMs.at(-1), utc.dayOffsets]).toEqual([
    "UTC",
    ms("2026-11-15T00:00:00Z"),
    undefined,
  ]);
});

test("days on which clocks change have 23 and 25 hours", () => {
  const spring = spanOf("30d", ms("2026-04-10T12:00:00Z"), "Europe/Berlin");
  expect(hours(spring).filter((count) => count !== 24)).toEqual([23]);
  expect(spring.dayOffsets?.map(({ offsetMs }) => offsetMs / hourMs)).toEqual([1, 2]);
  const autumn = spanOf("30d", ms("2026-11-10T12:00:00Z"), "Europe/Berlin");
  expect(hours(autumn).filter((count) => count !== 24)).toEqual([25]);
  const before = spanBefore(autumn);
  expect(before).toEqual({
    grain: "hour",
    fromMs: ms("2026-09-11T22:00:00Z"),
    toMs: ms("2026-10-11T22:00:00Z"),
  });
});

test("where clocks are off by half an hour, days are those of UTC", () => {
  const nowMs = ms("2026-11-15T20:00:00Z");
  const kolkata = spanOf("30d", nowMs, "Asia/Kolkata");
  // It is the 16th there.
  expect(kolkata).toEqual(spanOf("30d", nowMs));
});

const custom = (from: string | undefined, to: string | undefined, timeZone = "Europe/Berlin") =>
  customSpan({ from, to, timeZone, nowMs: ms("2026-11-15T23:13:00Z") });

test.each([
  ["2026-11-16", undefined, "hour", 24, "Europe/Berlin"],
  ["2026-10-24", "2026-10-26", "hour", 73, "Europe/Berlin"],
  ["2026-11-01", "2026-11-09", "day", 9, "Europe/Berlin"],
  ["2026-01-01", "2026-12-31", "day", 365, "UTC"],
])("from %s to %s there are steps by the %s, %i of them, in %s", (...of) => {
  const [from, to, grain, count, timeZone] = of;
  const span = custom(from, to);
  expect([span.grain, span.startsMs.length, span.timeZone]).toEqual([grain, count, timeZone]);
  expect(span.startsMs[0]).toBe(span.fromMs);
});

test.each([
  ["2026-11-17", "2026-11-16", "from"],
  ["2025-01-01", "2026-11-16", "from"],
  ["2026-02-30", "2026-11-16", "from"],
  ["2026-02-20", "soon", "to"],
  [undefined, "2026-11-16", "from"],
])("days from %s to %s are rejected at %s", (from, to, field) => {
  expect(() => custom(from, to)).toThrow(expect.objectContaining({ code: "invalid", field }));
});
