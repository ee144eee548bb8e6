import { invalid } from "../../base/problem.ts";
import { addDays, dayOf, dayStarts, type ZoneOffset } from "../../base/time-zone.ts";
import type { UsageGrain } from "../../ledger/reports.ts";
import { type DaySpan, daySpan, toDaySpan } from "../input/days.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const ranges = ["1h", "24h", "7d", "30d", "90d"] as const;
export type Range = (typeof ranges)[number];

const steps: Readonly<Record<Range, { readonly grain: UsageGrain; readonly count: number }>> = {
  "1h": { grain: "minute", count: 60 },
  "24h": { grain: "hour", count: 24 },
  "7d": { grain: "hour", count: 168 },
  "30d": { grain: "day", count: 30 },
  "90d": { grain: "day", count: 90 },
};

/** Of a range of days. */
const mostDays = 366;
/** Longer ranges are shown by the day. */
const mostDaysByHour = 8;
/** Of another zone than UTC: its days are summed from hours, and more would take too long. */
const mostZoneDays = 92;

export interface Span {
  readonly grain: UsageGrain;
  readonly fromMs: number;
  readonly toMs: number;
  /** Where each step begins. */
  readonly startsMs: readonly number[];
  /** `startMs` of the points of each step; see `UsageQuery.dayOffsets`. */
  readonly keysMs: readonly number[];
  /** In which days begin. */
  readonly timeZone: string;
  readonly dayOffsets?: readonly ZoneOffset[];
}

/** Whole steps, the last of which goes on. */
export function spanOf(range: Range, nowMs: number, timeZone = "UTC"): Span {
  const { grain, count } = steps[range];
  if (grain === "day") {
    const to = dayOf(nowMs, timeZone);
    const days = daySpan({ from: addDays(to, 1 - count), to, timeZone });
    // Where its days are not those that can be summed, today is another one.
    return days.timeZone === timeZone ? ofDays(days) : spanOf(range, nowMs);
  }
  const stepMs = grain === "minute" ? minuteMs : hourMs;
  const toMs = Math.floor(nowMs / stepMs) * stepMs + stepMs;
  return ofSteps({ grain, fromMs: toMs - count * stepMs, toMs, stepMs, timeZone });
}

/** Days of the caller's choice, both counted. */
export function customSpan(of: {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly timeZone: string;
  readonly nowMs: number;
}): Span {
  const { timeZone, nowMs } = of;
  if (of.from === undefined) throw invalid({ from: "from is required with to." });
  const to = of.to ?? dayOf(nowMs, timeZone);
  const asked = { from: of.from, to, timeZone, mostDays: mostDays - 1, mostWords: "a year" };
  const days = toDaySpan(asked);
  const count = countDays(days);
  if (count <= mostDaysByHour) {
    const { fromMs, toMs } = days;
    return ofSteps({ grain: "hour", fromMs, toMs, stepMs: hourMs, timeZone: days.timeZone });
  }
  return ofDays(count > mostZoneDays ? toDaySpan({ ...asked, timeZone: "UTC" }) : days);
}

function ofSteps(of: {
  readonly grain: UsageGrain;
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly timeZone: string;
}): Span {
  const { grain, fromMs, toMs, stepMs, timeZone } = of;
  const count = Math.round((toMs - fromMs) / stepMs);
  const startsMs = Array.from({ length: count }, (_, at) => fromMs + at * stepMs);
  return { grain, fromMs, toMs, startsMs, keysMs: startsMs, timeZone };
}

function ofDays(span: DaySpan): Span {
  const { from, fromMs, toMs, timeZone, offsets } = span;
  const days = Array.from({ length: countDays(span) }, (_, at) => addDays(from, at));
  const isUtc = offsets.every(({ offsetMs }) => offsetMs === 0);
  return {
    grain: "day",
    fromMs,
    toMs,
    startsMs: dayStarts(days, offsets),
    keysMs: days.map((day) => Date.parse(day)),
    timeZone,
    ...(isUtc ? {} : { dayOffsets: offsets }),
  };
}

const countDays = ({ from, to }: DaySpan) => (Date.parse(to) - Date.parse(from)) / dayMs + 1;

export type SpanBefore = Pick<Span, "grain" | "fromMs" | "toMs">;

/**
 * As many hours or days just before, in one sum; the last of the minutes are not kept that long.
 * Days of a time zone are summed from hours.
 */
export function spanBefore(span: Span): SpanBefore | undefined {
  const { grain, fromMs, toMs, startsMs, timeZone, dayOffsets } = span;
  if (grain === "minute") return undefined;
  if (dayOffsets === undefined) return { grain, fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
  const last = addDays(dayOf(fromMs, timeZone), -1);
  const first = addDays(last, 1 - startsMs.length);
  return {
    grain: "hour",
    fromMs: daySpan({ from: first, to: last, timeZone }).fromMs,
    toMs: fromMs,
  };
}
