/** Dates and times of day. */
import { cardinal, digits, ordinal, year } from "./number-words.ts";
import { type Groups, type Rule, rule } from "./rules.ts";

const months =
  "January February March April May June July August September October November December".split(
    " ",
  );
const weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

const monthPattern =
  "(?<month>Jan(?:uary|\\.)?|Feb(?:ruary|\\.)?|Mar(?:ch|\\.)?|Apr(?:il|\\.)?|May|June?\\.?|July?\\.?|Aug(?:ust|\\.)?|Sep(?:t(?:ember|\\.)?|\\.)?|Oct(?:ober|\\.)?|Nov(?:ember|\\.)?|Dec(?:ember|\\.)?)";
const suffix = "(?:st|nd|rd|th)?";
const half = "(?<half>[ap])(?:\\.m\\.?|m\\b\\.?)";
const zone = "(?<zone>UTC|GMT|EST|EDT|CST|CDT|MST|MDT|PST|PDT|CET|CEST|BST|IST|JST)";
const clock = "(?<hour>[01]?\\d|2[0-4]):(?<minute>[0-5]\\d)(?::(?<second>[0-5]\\d)(?:\\.\\d+)?)?";

export const calendarRules: readonly Rule[] = [
  // 2027-03-14T09:05:00Z and 2027-03-14 09:05
  rule(
    new RegExp(
      `(?<![\\d.-])(?<year>\\d{4})-(?<number>0\\d|1[0-2])-(?<day>[0-2]\\d|3[01])(?:T|\\s)${clock}(?<utc>Z|[+-]\\d{2}:?\\d{2})?(?![\\d-])`,
      "gu",
    ),
    (groups) => {
      const date = sayDate({ ...dateOf(groups), number: Number(groups["number"]) });
      const utc = groups["utc"] === "Z" ? " UTC" : "";
      return date === undefined ? undefined : `${date}, ${sayTime(groups)}${utc}`;
    },
  ),
  rule(
    /(?<![\d.-])(?<year>\d{4})[-/](?<number>0?[1-9]|1[0-2])[-/](?<day>0?[1-9]|[12]\d|3[01])(?![\d-])/gu,
    (groups) => sayDate({ ...dateOf(groups), number: Number(groups["number"]) }),
  ),
  // 3/14/2027; 14/3/2027 and 14.3.2027 can only be read with the day first
  rule(
    /(?<![\d/.])(?<first>\d{1,2})(?<mark>[/.-])(?<second>\d{1,2})\k<mark>(?<year>\d{4}|\d{2})(?![\d/.]\d|\d|-\d)/gu,
    (groups) => {
      const first = Number(groups["first"]);
      const second = Number(groups["second"]);
      if (groups["mark"] !== "/" && groups["year"]?.length !== 4) return undefined;
      const dayFirst = first > 12 || (groups["mark"] === "." && second <= 12);
      return sayDate({
        year: fullYear(groups["year"] ?? ""),
        number: dayFirst ? second : first,
        day: dayFirst ? first : second,
      });
    },
  ),
  // March 3-5, 2027
  rule(
    new RegExp(
      `\\b${monthPattern}\\s+(?<day>\\d{1,2})${suffix}\\s?[-–]\\s?(?<last>\\d{1,2})${suffix}\\b(?!:)`,
      "gu",
    ),
    ({ month = "", day = "", last = "" }) =>
      `${monthName(month)} ${ordinal(day)} to ${ordinal(last)}`,
  ),
  // March 3rd, 2027
  rule(
    new RegExp(
      `\\b${monthPattern}\\s+(?<day>[12]?\\d|3[01])${suffix}\\b(?![:.]\\d)(?:,?\\s+(?<year>[12]\\d{3})\\b(?!,\\d))?`,
      "gu",
    ),
    ({ month = "", day = "", year: inYear = "" }) => {
      const date = `${monthName(month)} ${ordinal(day)}`;
      return inYear === "" ? date : `${date}, ${year(inYear)}`;
    },
  ),
  // 3 March 2027, the 3rd of March 2027
  rule(
    new RegExp(
      `(?<the>\\bthe\\s+)?\\b(?<day>[12]?\\d|3[01])${suffix}\\s+(?:of\\s+)?${monthPattern}(?![a-z])(?:,?\\s+(?<year>[12]\\d{3})\\b)?`,
      "gu",
    ),
    ({ month = "", day = "", year: inYear = "" }) => {
      const date = `the ${ordinal(day)} of ${monthName(month)}`;
      return inYear === "" ? date : `${date}, ${year(inYear)}`;
    },
  ),
  rule(
    new RegExp(`\\b${monthPattern},?\\s+(?<year>[12]\\d{3})\\b(?!,\\d)`, "gu"),
    ({ month = "", year: inYear = "" }) => `${monthName(month)} ${year(inYear)}`,
  ),
  rule(
    /\b(?<day>Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)(?:\.(?=[\s,])|(?=,\s))/gu,
    ({ day = "" }) => weekdays.find((name) => name.startsWith(day.slice(0, 3))),
  ),
  // 9am-5pm, 9-5 p.m.
  rule(
    new RegExp(
      `\\b(?<hour>1[0-2]|[1-9])(?:\\s?(?<firstHalf>[ap])\\.?m\\.?)?\\s?[-–]\\s?(?<last>1[0-2]|[1-9])\\s?${half}`,
      "giu",
    ),
    ({ hour = "", firstHalf = "", last = "", half: lastHalf = "" }, { text, after }) => {
      const range = `${cardinal(hour)}${sayHalf(firstHalf)} to ${cardinal(last)}${sayHalf(lastHalf)}`;
      return keepStop(range, text, after);
    },
  ),
  // 2.30 pm
  rule(
    new RegExp(`(?<![\\d:.])(?<hour>1[0-2]|[1-9])\\.(?<minute>[0-5]\\d)\\s?${half}`, "giu"),
    (groups, { text, after }) => keepStop(sayTime(groups), text, after),
  ),
  rule(
    new RegExp(`(?<![\\d:])${clock}\\s?[-–]\\s?(?=\\d{1,2}:\\d{2})`, "gu"),
    (groups) => `${sayTime(groups)} to `,
  ),
  rule(
    new RegExp(`(?<![\\d:.])${clock}(?:\\s?${half})?(?:\\s+${zone}\\b)?(?![\\d:]|\\.\\d)`, "giu"),
    (groups, { text, after }) => keepStop(sayTime(groups), text, after),
  ),
  rule(
    new RegExp(`(?<![\\d:.,])(?<hour>1[0-2]|[1-9])\\s?${half}(?:\\s+${zone}\\b)?`, "giu"),
    (groups, { text, after }) => keepStop(sayTime(groups), text, after),
  ),
];

function dateOf(groups: Groups): { year: string; day: number } {
  return { year: groups["year"] ?? "", day: Number(groups["day"]) };
}

function sayDate(date: { year: string; number: number; day: number }): string | undefined {
  const month = months[date.number - 1];
  if (month === undefined || date.day < 1 || date.day > 31) return undefined;
  return `${month} ${ordinal(String(date.day))}, ${year(date.year)}`;
}

function fullYear(text: string): string {
  if (text.length === 4) return text;
  return `${Number(text) < 70 ? "20" : "19"}${text}`;
}

function monthName(text: string): string {
  return months.find((name) => name.startsWith(text.slice(0, 3))) ?? text;
}

function sayHalf(half: string): string {
  return half === "" ? "" : ` ${half.toUpperCase()}M`;
}

function sayTime({ hour = "", minute = "", second = "", half = "", zone = "" }: Groups): string {
  const tail = sayHalf(half) + (zone === "" ? "" : ` ${zone.toUpperCase()}`);
  const hours = cardinal(hour);
  if (second !== "" && second !== "00") {
    return `${hours} ${sayMinutes(minute)} and ${cardinal(second)} seconds${tail}`;
  }
  if (minute === "") return hours + tail;
  if (minute !== "00") return `${hours} ${sayMinutes(minute)}${tail}`;
  if (half !== "") return hours + tail;
  const value = Number(hour);
  return (value >= 1 && value <= 12 ? `${hours} o'clock` : `${hours} hundred`) + tail;
}

function sayMinutes(minute: string): string {
  if (minute === "00") return "hundred";
  return minute.startsWith("0") ? `oh ${digits(minute.slice(1))}` : cardinal(minute);
}

/** "5 p.m." may end the sentence with its own dot. */
function keepStop(said: string, text: string, after: string): string {
  return text.endsWith(".") && /^(?:\s*$|["”)]*\s+[A-Z])/u.test(after) ? `${said}.` : said;
}
