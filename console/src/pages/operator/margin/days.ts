const dayMs = 86_400_000;

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

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The first and the last day, in UTC, both counted. */
export function daysOf(range: Exclude<Range, "days">, nowMs: number): { from: string; to: string } {
  const today = toDay(nowMs);
  const monthMs = Date.parse(`${today.slice(0, 7)}-01`);
  switch (range) {
    case "month":
      return { from: toDay(monthMs), to: today };
    case "last-month": {
      const last = toDay(monthMs - dayMs);
      return { from: `${last.slice(0, 7)}-01`, to: last };
    }
    case "30d":
      return { from: toDay(nowMs - 29 * dayMs), to: today };
    case "year":
      return { from: `${today.slice(0, 4)}-01-01`, to: today };
    default:
      return range satisfies never;
  }
}
