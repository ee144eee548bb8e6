/** Dates and times of day. */
import { cardinal, digits, ordinal, year } from "./number-words.ts";
import type { Groups, Rule, RuleMatch } from "./rules.ts";

const months =
  "January February March April May June July August September October November December".split(
    " ",
  );
const weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const month =
  "(?<month>Jan(?:uary|\\.)?|Feb(?:ruary|\\.)?|Mar(?:ch|\\.)?|Apr(?:il|\\.)?|May|June?\\.?|July?\\.?|Aug(?:ust|\\.)?|Sep(?:t(?:ember|\\.)?|\\.)?|Oct(?:ober|\\.)?|Nov(?:ember|\\.)?|Dec(?:ember|\\.)?)";
const day = "(?<day>[12]?\\d|3[01])(?:st|nd|rd|th)?";
const inYear = "(?:,?\\s+(?<year>[12]\\d{3})\\b(?!,\\d))?";

export const calendarRules: readonly Rule[] = [
  // 2027-03-14, with a time or without
  [
    /(?<![\d.-])(?<year>\d{4})[-/](?<number>0?[1-9]|1[0-2])[-/](?<day>0?[1-9]|[12]\d|3[01])(?:(?<time>[T\s])(?=\d\d:\d\d)|(?![\d-]))/gu,
    ({ year: of = "", number, day: at, time }) => {
      const date = sayDate({ year: of, month: Number(number), day: Number(at) });
      return date === undefined || time === undefined ? date : `${date}, `;
    },
  ],
  // 3/14/2027; 25/12/2026 and 14.3.2027 can only be read with the day first
  [
    /(?<![\d/.])(?<first>\d{1,2})(?<mark>[/.])(?<second>\d{1,2})\k<mark>(?<year>\d{4}|\d{2})(?![\d/.]\d|\d|-\d)/gu,
    ({ first, second, mark, year: of = "" }) => {
      if (mark === "." && of.length === 2) return undefined;
      const [a, b] = [Number(first), Number(second)];
      const [inMonth, at] = a > 12 || (mark === "." && b <= 12) ? [b, a] : [a, b];
      const century = Number(of) < 70 ? "20" : "19";
      return sayDate({ year: of.length === 4 ? of : century + of, month: inMonth, day: at });
    },
  ],
  // March 3rd, 2027, and March 3-5
  [
    new RegExp(
      `\\b${month}\\s+${day}(?:\\s?[-–]\\s?(?<last>\\d{1,2})(?:th|st|nd|rd)?)?\\b(?![:.]\\d)${inYear}`,
      "gu",
    ),
    ({ month: name = "", day: at = "", last, year: of }) =>
      `${monthName(name)} ${ordinal(at)}${last === undefined ? "" : ` to ${ordinal(last)}`}${sayYear(of)}`,
  ],
  // 3 March 2027, the 3rd of March
  [
    new RegExp(`(?:\\bthe\\s+)?\\b${day}\\s+(?:of\\s+)?${month}(?![a-z])${inYear}`, "gu"),
    ({ month: name = "", day: at = "", year: of }) =>
      `the ${ordinal(at)} of ${monthName(name)}${sayYear(of)}`,
  ],
  [
    new RegExp(`\\b${month},?\\s+(?<year>[12]\\d{3})\\b(?!,\\d)`, "gu"),
    ({ month: name = "", year: of = "" }) => `${monthName(name)} ${year(of)}`,
  ],
  // Mon, March 3
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?=,\s[A-Z\d])/gu,
    (_, { text }) => weekdays.find((name) => name.startsWith(text)),
  ],
  // 9am-5pm, 9:00-17:30
  [/(?<=\d\s?(?:[ap]\.?m\.?)?)\s?[-–]\s?(?=\d{1,2}(?::\d\d|\s?[ap]\.?m))/giu, " to "],
  [/(?<![\d:.])(?<hour>1[0-2]|[1-9])\.(?<minute>[0-5]\d)(?=\s?[ap]\.?m)/giu, "$<hour>:$<minute>"],
  [
    /(?<![\d:.,])(?<hour>[01]?\d|2[0-4])(?=:\d\d|\s?[ap](?:m\b|\.m))(?::(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:\.\d+)?)?)?(?:\s?(?<half>[ap])(?:\.m\.?|m\b\.?)|(?<utc>Z))?(?![\d:]|\.\d)/giu,
    sayTime,
  ],
];

function sayDate(date: { year: string; month: number; day: number }): string | undefined {
  const name = months[date.month - 1];
  if (name === undefined || date.day < 1 || date.day > 31) return undefined;
  return `${name} ${ordinal(String(date.day))}${sayYear(date.year)}`;
}

function sayYear(text: string | undefined): string {
  return text === undefined ? "" : `, ${year(text)}`;
}

function monthName(text: string): string {
  return months.find((name) => name.startsWith(text.slice(0, 3))) ?? text;
}

function sayTime({ hour = "", minute, second, half, utc }: Groups, match: RuleMatch): string {
  const tail = half === undefined ? (utc === undefined ? "" : " UTC") : ` ${half.toUpperCase()}M`;
  const seconds = second === undefined || second === "00" ? "" : ` and ${cardinal(second)} seconds`;
  const said = cardinal(hour) + sayMinutes({ hour, minute, half }) + seconds + tail;
  // "5 p.m." may end the sentence with its own dot.
  const ends = match.text.endsWith(".") && /^(?:\s*$|["”)]*\s+[A-Z])/u.test(match.after);
  return ends ? `${said}.` : said;
}

function sayMinutes({ hour, minute, half }: Groups): string {
  if (minute === undefined || (minute === "00" && half !== undefined)) return "";
  if (minute === "00") return Number(hour) >= 1 && Number(hour) <= 12 ? " o'clock" : " hundred";
  return minute.startsWith("0") ? ` oh ${digits(minute.slice(1))}` : ` ${cardinal(minute)}`;
}
