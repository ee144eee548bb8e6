import { addDays } from "../../../../../src/base/time-zone.ts";
import type { Days } from "../../../components/period/period.ts";

export const ranges = [
  { value: "month", label: "This month" },
  { value: "last-month", label: "Last month" },
  { value: "30d", label: "Last 30 days" },
  { value: "year", label: "This year" },
  { value: "days", label: "Custom" },
] as const;

export type Range = (typeof ranges)[number]["value"];

export const toRange = (text: string | undefined): Range =>
  ranges.find(({ value }) => value === text)?.value ?? "month";

/** The first and the last day, both counted, seen from today (`2027-03-01`). */
export function daysOf(range: Exclude<Range, "days">, today: string): Days {
  const month = `${today.slice(0, 7)}-01`;
  switch (range) {
    case "month":
      return { from: month, to: today };
    case "last-month": {
      const last = addDays(month, -1);
      return { from: `${last.slice(0, 7)}-01`, to: last };
    }
    case "30d":
      return { from: addDays(today, -29), to: today };
    case "year":
      return { from: `${today.slice(0, 4)}-01-01`, to: today };
    default:
      return range satisfies never;
  }
}
