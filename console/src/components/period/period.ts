import { addDays } from "../../../../src/base/time-zone.ts";
import { formatDate } from "../../format/moments.ts";

/** Days of one's own choice, both counted: `2026-11-01`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;

/** What an address says, if it is days. */
export function toDays(from: string | undefined, to: string | undefined): Days | undefined {
  if (!isDay(from) || !isDay(to)) return undefined;
  return { from, to };
}

const isDay = (text: string | undefined): text is string =>
  text !== undefined &&
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

export const countDays = ({ from, to }: Days) =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1;

/** As many days, just before. */
export function daysBefore(days: Days): Days {
  const count = countDays(days);
  return { from: addDays(days.from, -count), to: addDays(days.from, -1) };
}

/** `Nov 1 – Nov 10, 2026`, or one day alone. */
export function dayWords({ from, to }: Days): string {
  if (from === to) return formatDate(from);
  const isOneYear = from.slice(0, 4) === to.slice(0, 4);
  return `${formatDate(from, isOneYear ? "shortDay" : "day")} – ${formatDate(to)}`;
}
