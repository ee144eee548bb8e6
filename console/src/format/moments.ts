const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const steps = [
  { unit: "second", ms: 1_000, under: 60_000 },
  { unit: "minute", ms: 60_000, under: 3_600_000 },
  { unit: "hour", ms: 3_600_000, under: 86_400_000 },
  { unit: "day", ms: 86_400_000, under: 30 * 86_400_000 },
] as const;
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const exact = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** `5 minutes ago`, `in 2 days`; further off than a month, the date. */
export function formatRelative(atMs: number, nowMs: number): string {
  const awayMs = atMs - nowMs;
  if (Math.abs(awayMs) < 5_000) return "just now";
  const step = steps.find(({ under }) => Math.abs(awayMs) < under);
  return step === undefined
    ? day.format(atMs)
    : relative.format(
        awayMs < 0 ? Math.ceil(awayMs / step.ms) : Math.round(awayMs / step.ms),
        step.unit,
      );
}

/** To the second, in the reader's own time zone, which is named. */
export const formatExact = (atMs: number) => exact.format(atMs);

export const formatDay = (atMs: number) => day.format(atMs);
