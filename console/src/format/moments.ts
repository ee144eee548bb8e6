import { useSyncExternalStore } from "react";
import { fromDateText, toDateText } from "../../../src/base/dates.ts";
import {
  addDays,
  dayOf as dayIn,
  hasWholeHours,
  modernZone,
  dayStart as startIn,
  zoneOffsets,
} from "../../../src/base/time-zone.ts";

/**
 * Every time that the console shows or takes is in one time zone: that of the browser, or UTC, as
 * chosen in the profile. `session.tsx` sets it; all pages format by the functions below.
 */
export type TimeZoneChoice = "local" | "utc";

let choice: TimeZoneChoice = "local";
/** Of the browser: to find it out takes longer than to format by it. */
let localZone: string | undefined;
const listeners = new Set<() => void>();

export function setTimeZone(chosen: TimeZoneChoice): void {
  if (chosen === choice) return;
  choice = chosen;
  localZone = undefined;
}

/** Draws again what was drawn before it was set: not while React draws. */
export function tellTimeZone(chosen: TimeZoneChoice): void {
  setTimeZone(chosen);
  for (const tell of listeners) tell();
}

/** The IANA name: `Europe/Berlin`, `UTC`. */
export function timeZone(): string {
  if (choice === "utc") return "UTC";
  localZone ??= browserZone();
  return localZone;
}

/** That of the browser, whatever is chosen. */
export const browserZone = () => modernZone(Intl.DateTimeFormat().resolvedOptions().timeZone);

/** The same for a component, which is drawn again when another one is chosen. */
export function useTimeZone(): string {
  return useSyncExternalStore(listen, timeZone);
}

function listen(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/**
 * The zone that sums by day can be in: sums are kept by hour, so where clocks are off by half an
 * hour it is UTC.
 */
export function dayZone(fromMs: number, toMs: number): string {
  const zone = timeZone();
  return hasWholeHours(zoneOffsets({ timeZone: zone, fromMs, toMs })) ? zone : "UTC";
}

/** The first moment of a day (`2027-01-31`), for filters: from `dayStart(from)` … */
export const dayStart = (day: string, zone = timeZone()) => startIn(day, zone);

/** As the platform is asked for it: the first moment of a day; what is no day, as it is. */
export const dayStartText = (day: string, zone = timeZone()) =>
  isDay(day) ? toDateText(dayStart(day, zone)) : day;

/** The first moment after a day: filters end before it. */
export const dayEndText = (day: string, zone = timeZone()) =>
  isDay(day) ? toDateText(dayStart(addDays(day, 1), zone)) : day;

/** February 30th is none. */
const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && fromDateText(text) !== undefined;

/** The day (`2027-01-31`) that a moment lies in. */
export const dayOf = (atMs: number, zone = timeZone()) => dayIn(atMs, zone);

const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const date = { day: "numeric", month: "short", year: "numeric" } as const;
const formats = {
  day: date,
  shortDay: { day: "numeric", month: "short" },
  weekday: { ...date, weekday: "short" },
  clock,
  time: { ...clock, second: "2-digit" },
  moment: { ...date, ...clock },
  shortMoment: { day: "numeric", month: "short", ...clock },
  exact: { ...date, ...clock, second: "2-digit", timeZoneName: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
export type MomentFormat = keyof typeof formats;

const made = new Map<string, Intl.DateTimeFormat>();

function formatterOf(name: MomentFormat, zone: string): Intl.DateTimeFormat {
  const known = made.get(`${name} ${zone}`);
  if (known !== undefined) return known;
  const fresh = new Intl.DateTimeFormat("en", { ...formats[name], timeZone: zone });
  made.set(`${name} ${zone}`, fresh);
  return fresh;
}

/** `Nov 16, 2026, 00:02`; `as` is another of the formats: `time` is `00:02:31`. */
export const formatMoment = (atMs: number, as: MomentFormat = "moment", zone = timeZone()) =>
  formatterOf(as, zone).format(atMs);

/** To the second, with the zone. */
export const formatExact = (atMs: number) => formatMoment(atMs, "exact");

/** `Nov 16, 2026`. */
export const formatDay = (atMs: number) => formatMoment(atMs, "day");

/** A date that is no moment (`2026-11-16`), such as the day of a sum: the same everywhere. */
export const formatDate = (day: string, as: MomentFormat = "day") =>
  formatMoment(Date.parse(`${day}T00:00:00Z`), as, "UTC");

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const steps = [
  { unit: "second", ms: 1_000, under: 60_000 },
  { unit: "minute", ms: 60_000, under: 3_600_000 },
  { unit: "hour", ms: 3_600_000, under: 86_400_000 },
  { unit: "day", ms: 86_400_000, under: 30 * 86_400_000 },
] as const;

/** `5 minutes ago`, `in 2 days`; further off than a month, the date. */
export function formatRelative(atMs: number, nowMs: number): string {
  const awayMs = atMs - nowMs;
  if (Math.abs(awayMs) < 5_000) return "just now";
  const step = steps.find(({ under }) => Math.abs(awayMs) < under);
  return step === undefined
    ? formatDay(atMs)
    : relative.format(
        awayMs < 0 ? Math.ceil(awayMs / step.ms) : Math.round(awayMs / step.ms),
        step.unit,
      );
}
