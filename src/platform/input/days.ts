import { invalid } from "../../base/problem.ts";
import {
  addDays,
  dayStart,
  hasWholeHours,
  isTimeZone,
  modernZone,
  type ZoneOffset,
  zoneOffsets,
} from "../../base/time-zone.ts";
import { text } from "../http/schemas.ts";
import { toDayStart } from "./values.ts";

const dayMs = 86_400_000;

export const timeZoneField = text({
  most: 64,
  about:
    "IANA name of the time zone of days, such as Europe/Berlin. Default: UTC. Sums are kept by hour: zones that are off by half an hour get days in UTC.",
});

export function toTimeZone(name: string | undefined): string {
  if (name === undefined) return "UTC";
  if (!isTimeZone(name))
    throw invalid({
      time_zone: "time_zone must be the IANA name of a time zone, such as Europe/Berlin or UTC.",
    });
  return modernZone(name);
}

export interface DaySpan {
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** In which these are days. */
  readonly timeZone: string;
  /** From `fromMs` on. */
  readonly offsets: readonly ZoneOffset[];
}

/** Whole days, both counted, of a zone whose days can be summed from hours; else of UTC. */
export function toDaySpan(of: {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly mostDays: number;
  readonly mostWords: string;
}): DaySpan {
  const { from, to, timeZone, mostDays, mostWords } = of;
  const days = (toDayStart(to, "to") - toDayStart(from, "from")) / dayMs;
  if (days < 0)
    throw invalid({ from: `The first day (${from}) must not be after the last day (${to}).` });
  if (days > mostDays)
    throw invalid({ from: `The first and last day must be at most ${mostWords} apart.` });
  return daySpan({ from, to, timeZone });
}

/** The same of days that are known to be right. */
export function daySpan(of: {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
}): DaySpan {
  const { from, to, timeZone } = of;
  const fromMs = dayStart(from, timeZone);
  const toMs = dayStart(addDays(to, 1), timeZone);
  const offsets = zoneOffsets({ timeZone, fromMs, toMs });
  if (timeZone !== "UTC" && !hasWholeHours(offsets)) return daySpan({ ...of, timeZone: "UTC" });
  return { from, to, fromMs, toMs, timeZone, offsets };
}
