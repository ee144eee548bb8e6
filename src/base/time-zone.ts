/**
 * Days of a time zone, by its IANA name. A day is not always 24 hours long, and not every day has a
 * midnight: where clocks jump at 00:00, it begins at 01:00.
 */
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Names come from callers, and a formatter is large: only so many are kept. */
const mostKept = 40;
const kept = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = kept.get(timeZone);
  if (known !== undefined) return known;
  const fresh = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
  kept.set(timeZone, fresh);
  return fresh;
}

/** As an IANA name: `Europe/Berlin`, `UTC`. Offsets such as `+02:00` know no daylight saving. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Renamed zones that runtimes report by their old names, which CLDR keeps for good. */
const renamedZones: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** `Asia/Kolkata` for `Asia/Calcutta`: the name that people know, if this runtime knows it too. */
export function modernZone(name: string): string {
  const modern = renamedZones[name];
  return modern !== undefined && isTimeZone(modern) ? modern : name;
}

/** How far its clocks are ahead of UTC at a moment. */
export function offsetMs(atMs: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const values: Record<string, number> = {};
  for (const { type, value } of formatterOf(timeZone).formatToParts(atMs))
    values[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = values;
  const wholeMs = Math.floor(atMs / 1_000) * 1_000;
  return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
}

/** `2027-01-31`, the date that its calendars show at a moment. */
export const dayOf = (atMs: number, timeZone: string) =>
  new Date(atMs + offsetMs(atMs, timeZone)).toISOString().slice(0, 10);

/** The first moment of a day (`2027-01-31`). */
export function dayStart(day: string, timeZone: string): number {
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  if (timeZone === "UTC") return midnightMs;
  // No clock is further from UTC than 15 hours; dates never go backward.
  let beforeMs = midnightMs - 15 * hourMs;
  let foundMs = midnightMs + 15 * hourMs;
  while (foundMs - beforeMs > minuteMs) {
    const middleMs = beforeMs + Math.floor((foundMs - beforeMs) / 2 / minuteMs) * minuteMs;
    if (dayOf(middleMs, timeZone) < day) beforeMs = middleMs;
    else foundMs = middleMs;
  }
  return foundMs;
}

/** `addDays("2027-02-28", 1)` is `2027-03-01`. */
export const addDays = (day: string, count: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * dayMs).toISOString().slice(0, 10);

export interface ZoneOffset {
  /** Valid from this moment on, until that of the next. */
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** The offsets of a time span, the first from its beginning on; to the hour that clocks change in. */
export function zoneOffsets(of: {
  readonly timeZone: string;
  readonly fromMs: number;
  readonly toMs: number;
}): readonly ZoneOffset[] {
  const { timeZone, fromMs, toMs } = of;
  const offsets = [{ fromMs, offsetMs: offsetMs(fromMs, timeZone) }];
  if (timeZone === "UTC") return offsets;
  // Nowhere do clocks change twice in a week.
  for (let atMs = fromMs; atMs < toMs; atMs += 7 * dayMs) {
    const endMs = Math.min(atMs + 7 * dayMs, toMs);
    const offset = offsetMs(endMs, timeZone);
    if (offset === offsets.at(-1)?.offsetMs) continue;
    let beforeMs = atMs;
    let foundMs = endMs;
    while (foundMs - beforeMs > hourMs) {
      const middleMs = beforeMs + Math.floor((foundMs - beforeMs) / 2 / hourMs) * hourMs;
      if (offsetMs(middleMs, timeZone) === offset) foundMs = middleMs;
      else beforeMs = middleMs;
    }
    offsets.push({ fromMs: foundMs, offsetMs: offset });
  }
  return offsets;
}

/** The first moment of each of some days in a row, without a look at the calendar for each. */
export function dayStarts(days: readonly string[], offsets: readonly ZoneOffset[]): number[] {
  return days.map((day) => {
    const midnightMs = Date.parse(`${day}T00:00:00Z`);
    const found = offsets.find((one, at) => {
      const startMs = Math.max(midnightMs - one.offsetMs, one.fromMs);
      return startMs < (offsets[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY);
    });
    return found === undefined ? midnightMs : Math.max(midnightMs - found.offsetMs, found.fromMs);
  });
}

/** What its clocks show at a moment, as if it were UTC; UTC without offsets. */
export const localMs = (atMs: number, offsets: readonly ZoneOffset[]) =>
  atMs + ((offsets.findLast(({ fromMs }) => fromMs <= atMs) ?? offsets[0])?.offsetMs ?? 0);

/** Sums by hour can be added up to its days: its midnights are whole hours of UTC. */
export const hasWholeHours = (offsets: readonly ZoneOffset[]) =>
  offsets.every((one) => one.offsetMs % hourMs === 0);
