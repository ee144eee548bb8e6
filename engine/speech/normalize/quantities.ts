/** Money, units of measure, percentages: a number together with what it counts. */
import { cardinal, decade, decimal, fraction } from "./number-words.ts";
import { type Groups, type Rule, rule } from "./rules.ts";

type Unit = readonly [one: string, many: string];

const same = (name: string): Unit => [name, name];
const regular = (name: string): Unit => [name, `${name}s`];
const compound = (name: string, rest: string): Unit => [`${name} ${rest}`, `${name}s ${rest}`];

const currencies: Readonly<Record<string, { unit: Unit; cent: Unit }>> = {
  $: { unit: regular("dollar"), cent: regular("cent") },
  US$: { unit: regular("US dollar"), cent: regular("cent") },
  A$: { unit: regular("Australian dollar"), cent: regular("cent") },
  C$: { unit: regular("Canadian dollar"), cent: regular("cent") },
  "€": { unit: regular("euro"), cent: regular("cent") },
  "£": { unit: regular("pound"), cent: ["penny", "pence"] },
  "¥": { unit: same("yen"), cent: same("sen") },
  "₹": { unit: regular("rupee"), cent: ["paisa", "paise"] },
  "₩": { unit: same("won"), cent: same("jeon") },
  "₽": { unit: regular("ruble"), cent: regular("kopeck") },
  "₿": { unit: regular("bitcoin"), cent: regular("cent") },
  USD: { unit: regular("US dollar"), cent: regular("cent") },
  EUR: { unit: regular("euro"), cent: regular("cent") },
  GBP: { unit: ["British pound", "British pounds"], cent: ["penny", "pence"] },
  JPY: { unit: same("Japanese yen"), cent: same("sen") },
  CHF: { unit: regular("Swiss franc"), cent: regular("cent") },
  CAD: { unit: regular("Canadian dollar"), cent: regular("cent") },
  AUD: { unit: regular("Australian dollar"), cent: regular("cent") },
  CNY: { unit: same("Chinese yuan"), cent: same("fen") },
  INR: { unit: regular("Indian rupee"), cent: ["paisa", "paise"] },
};

const magnitudes: Readonly<Record<string, string>> = {
  k: "thousand",
  m: "million",
  mn: "million",
  b: "billion",
  bn: "billion",
  t: "trillion",
  tn: "trillion",
  thousand: "thousand",
  million: "million",
  billion: "billion",
  trillion: "trillion",
};

const units: Readonly<Record<string, Unit>> = {
  "km/h": compound("kilometer", "per hour"),
  kph: compound("kilometer", "per hour"),
  mph: compound("mile", "per hour"),
  "m/s": compound("meter", "per second"),
  "mi/h": compound("mile", "per hour"),
  "km²": regular("square kilometer"),
  "m²": regular("square meter"),
  "cm²": regular("square centimeter"),
  "m³": regular("cubic meter"),
  "cm³": regular("cubic centimeter"),
  "sq ft": ["square foot", "square feet"],
  km: regular("kilometer"),
  cm: regular("centimeter"),
  mm: regular("millimeter"),
  nm: regular("nanometer"),
  µm: regular("micrometer"),
  m: regular("meter"),
  mi: regular("mile"),
  ft: ["foot", "feet"],
  yd: regular("yard"),
  kg: regular("kilogram"),
  mg: regular("milligram"),
  g: regular("gram"),
  lb: regular("pound"),
  lbs: regular("pound"),
  oz: regular("ounce"),
  "°C": compound("degree", "Celsius"),
  "°F": compound("degree", "Fahrenheit"),
  "°": regular("degree"),
  kB: regular("kilobyte"),
  KB: regular("kilobyte"),
  MB: regular("megabyte"),
  GB: regular("gigabyte"),
  TB: regular("terabyte"),
  PB: regular("petabyte"),
  KiB: regular("kibibyte"),
  MiB: regular("mebibyte"),
  GiB: regular("gibibyte"),
  Kbps: compound("kilobit", "per second"),
  kbps: compound("kilobit", "per second"),
  Mbps: compound("megabit", "per second"),
  Gbps: compound("gigabit", "per second"),
  "MB/s": compound("megabyte", "per second"),
  "GB/s": compound("gigabyte", "per second"),
  "kB/s": compound("kilobyte", "per second"),
  fps: compound("frame", "per second"),
  rpm: compound("revolution", "per minute"),
  Hz: same("hertz"),
  kHz: same("kilohertz"),
  MHz: same("megahertz"),
  GHz: same("gigahertz"),
  W: regular("watt"),
  kW: regular("kilowatt"),
  MW: regular("megawatt"),
  GW: regular("gigawatt"),
  kWh: regular("kilowatt hour"),
  V: regular("volt"),
  mAh: regular("milliamp hour"),
  dB: regular("decibel"),
  kcal: regular("kilocalorie"),
  cal: regular("calorie"),
  kJ: regular("kilojoule"),
  L: regular("liter"),
  l: regular("liter"),
  ml: regular("milliliter"),
  mL: regular("milliliter"),
  tsp: regular("teaspoon"),
  tbsp: regular("tablespoon"),
  ns: regular("nanosecond"),
  µs: regular("microsecond"),
  ms: regular("millisecond"),
  s: regular("second"),
  sec: regular("second"),
  secs: regular("second"),
  min: regular("minute"),
  mins: regular("minute"),
  h: regular("hour"),
  hr: regular("hour"),
  hrs: regular("hour"),
  yr: regular("year"),
  yrs: regular("year"),
  px: regular("pixel"),
  pt: regular("point"),
  "%": same("percent"),
};

const number = "\\d+(?:,\\d{3})*(?:\\.\\d+)?|\\.\\d+";
const amount = `(?<minus>(?<![\\w)])[-−])?(?<amount>${number})(?:\\s?(?:-|–|to)\\s?(?<to>${number}))?`;
const scale = "(?:\\s?(?<scale>thousand|million|billion|trillion|[kKMmBbTt]n?)\\b)?";
const whole = "(?<whole>\\d+(?:,\\d{3})*)(?:\\s+|-)";
const part = "(?<a>\\d{1,2})/(?<b>\\d{1,2})";
const escaped = (names: readonly string[]): string =>
  names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[$/.]/gu, "\\$&"))
    .join("|");
const isCode = (name: string): boolean => /^[A-Z]{3}$/u.test(name);
const currencyNames = Object.keys(currencies);
const symbols = escaped(currencyNames.filter((name) => !isCode(name)));
const codes = escaped(currencyNames.filter(isCode));
const unitNames = escaped(Object.keys(units));

// A lone "12B" is a house or a seat; it counts billions only next to a word of size or a thing counted.
const sizeBefore =
  /\b(?:over|under|about|around|nearly|almost|roughly|than|up to|raised|worth)\s$/iu;
const countedAfter =
  /^(?:\s[a-z]+)?[\s-](?:param(?:eter)?s?|weights|models?|LLMs?|tokens?|people|users?|customers|views|requests|rows|records|years|dollars|euros|pounds)\b/iu;

export const quantityRules: readonly Rule[] = [
  // 3/4 tsp, 2 1/2 km, 12-1/2-lb, 3 1/2 €
  rule(
    new RegExp(
      `(?<![\\w./,$€£])(?<minus>(?<!\\))[-−])?(?:${whole})?${part}[\\s-]?(?<unit>${unitNames}|[€£¥₹₩]|${codes})(?![\\w°²³%]|/[A-Za-z])`,
      "gu",
    ),
    sayMixed,
  ),
  // $12 1/2, $2 1/2 million
  rule(new RegExp(`(?<unit>${symbols})\\s?${whole}${part}${scale}(?![\\w/])`, "gu"), sayMixed),
  // $3.50, £1.2 million, -€20, $5-10, USD 5
  rule(
    new RegExp(
      `(?<sign>(?<![\\w)])[-−])?(?<currency>${symbols}|\\b(?:${codes})\\s)\\s?(?<amount>${number})(?:\\s?[-–]\\s?(?:${symbols})?(?<to>${number}))?${scale}`,
      "gu",
    ),
    sayMoney,
  ),
  // 5 USD, 20 €, 50¢
  rule(new RegExp(`${amount}${scale}\\s?(?<currency>[€£¥₹₩]|\\b(?:${codes})\\b)`, "gu"), sayMoney),
  rule(new RegExp(`(?<amount>${number})\\s?¢`, "gu"), ({ amount: cents = "" }) =>
    counted(cents, regular("cent")),
  ),
  // "five dollars/month", "ten euros/hr"
  rule(
    /(?<=\b(?:dollars?|euros?|pounds?|yen|rupees?|cents?))\s?\/\s?(?<unit>h|hr|min|sec|mo|yr|kg|km)\b/gu,
    ({ unit: name = "" }) => ` per ${name === "mo" ? "month" : (units[name]?.[0] ?? name)}`,
  ),
  rule(/(?<=\b(?:dollars?|euros?|pounds?|yen|rupees?|cents?))\s?\/\s?(?=[a-z])/gu, () => " per "),
  // 5'10"
  rule(
    /(?<![\w.])(?<feet>[1-9])['′](?<inches>1[01]|\d)(?:["″]|'')/gu,
    ({ feet = "", inches = "" }) => `${cardinal(feet)} foot ${cardinal(inches)}`,
  ),
  // "the 90s" and "the 1990s" are decades, "90s" alone is a time
  rule(
    /(?<=\b(?:the|early|late|mid|his|her|their|my|our)[\s-])['’]?(?<tens>[1-9]0)s\b/giu,
    ({ tens = "" }) => decade(tens),
  ),
  rule(/(?<!\w)['’](?<tens>[1-9]0)['’]?s\b/gu, ({ tens = "" }) => decade(tens)),
  rule(
    /(?<![\w.,])(?<tens>[2-9]0)s(?=\s(?:music|style|fashion|movies?|films?|rock|pop|kids?|era|hits|nostalgia|and\s(?:the\s)?\d0s)\b)/gu,
    ({ tens = "" }) => decade(tens),
  ),
  rule(/\b(?<tens>1[1-9]\d0|20\d0)['’]?s\b/gu, ({ tens = "" }) => decade(tens)),
  rule(
    new RegExp(`(?<![\\w.,])${amount}(?:\\s|-)?(?<unit>${unitNames})(?![\\w°²³%]|/[A-Za-z])`, "gu"),
    sayUnit,
  ),
  rule(new RegExp(`(?<![\\w.,])${amount}\\s?(?<unit>%|°[CF]?)`, "gu"), sayUnit),
  // 4K and 5G are names, 10K is a count
  rule(
    /(?<![\w.,])(?<name>[48]K|[2-6]G|[23]D)\b/gu,
    ({ name = "" }) => `${cardinal(name.slice(0, -1))} ·${name.slice(-1)}`,
  ),
  rule(
    new RegExp(`(?<![\\w.,$])(?<amount>${number})(?<scale>[kKMB])\\b(?!-\\d)`, "gu"),
    ({ amount: count = "", scale: by = "" }, { before, after }) => {
      const isWhole = /^\d+$/u.test(count);
      if (by === "B" && isWhole && !sizeBefore.test(before) && !countedAfter.test(after)) {
        return undefined;
      }
      return `${decimal(count)} ${magnitudes[by.toLowerCase()] ?? by}`;
    },
  ),
  // 1920x1080, then 3x
  rule(
    /(?<![\w.,])(?<a>\d+)\s?[x×]\s?(?<b>\d+)\b/gu,
    ({ a = "", b = "" }) => `${cardinal(a)} by ${cardinal(b)}`,
  ),
  rule(
    new RegExp(`(?<![\\w.,])(?<amount>${number})[x×](?!\\w)`, "gu"),
    ({ amount: factor = "" }) => `${decimal(factor)} times`,
  ),
];

function sayMixed(groups: Groups): string | undefined {
  const { minus = "", whole: count = "", a = "", b = "", unit: name = "" } = groups;
  const unit = units[name] ?? currencies[name]?.unit;
  if (unit === undefined) return undefined;
  const sign = minus === "" ? "" : "minus ";
  const rest = fraction(a, b);
  if (count === "") {
    return sign + (rest === "one half" ? `half a ${unit[0]}` : `${rest} of a ${unit[0]}`);
  }
  const magnitude = magnitudes[(groups["scale"] ?? "").toLowerCase()];
  const many = magnitude === undefined ? unit[1] : `${magnitude} ${unit[1]}`;
  return `${sign}${cardinal(count)} and ${rest.replace(/^one /u, "a ")} ${many}`;
}

function sayMoney(groups: Groups): string | undefined {
  const { amount: from = "", to = "", scale: by = "" } = groups;
  const currency = currencies[(groups["currency"] ?? "").trim()];
  if (currency === undefined) return undefined;
  const sign = (groups["sign"] ?? "") + (groups["minus"] ?? "") === "" ? "" : "minus ";
  const magnitude = magnitudes[by.toLowerCase()];
  if (to !== "" || magnitude !== undefined) {
    const range = to === "" ? decimal(from) : `${decimal(from)} to ${decimal(to)}`;
    return `${sign}${range} ${magnitude === undefined ? "" : `${magnitude} `}${currency.unit[1]}`;
  }
  const [whole = "", cents] = from.split(".");
  if (cents?.length !== 2) return sign + counted(from, currency.unit);
  const parts: string[] = [];
  if (Number(whole.replaceAll(",", "")) > 0) parts.push(counted(whole, currency.unit));
  if (cents !== "00") parts.push(counted(cents, currency.cent));
  return sign + (parts.length === 0 ? counted("0", currency.unit) : parts.join(" and "));
}

function sayUnit(groups: Groups): string | undefined {
  const { minus = "", amount: from = "", to = "", unit: name = "" } = groups;
  const unit = units[name];
  if (unit === undefined) return undefined;
  const sign = minus === "" ? "" : "minus ";
  if (to !== "") return `${sign}${decimal(from)} to ${counted(to, unit)}`;
  return sign + counted(from, unit);
}

function counted(amountText: string, [one, many]: Unit): string {
  return `${decimal(amountText)} ${Number(amountText) === 1 ? one : many}`;
}
