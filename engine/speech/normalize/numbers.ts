/** Numbers that stand alone: phones, versions, ordinals, fractions, years, ranges, then all others. */
import { cardinal, decimal, digits, fraction, ordinal, year } from "./number-words.ts";
import { type Rule, rule } from "./rules.ts";

const plain = "\\d+(?:,\\d{3})*(?:\\.\\d+)?";
const yearWords =
  "in|since|by|from|until|till|during|before|after|of|year|years|circa|around|spring|summer|fall|autumn|winter|to|and|between|©|copyright";

export const numberRules: readonly Rule[] = [
  // +1 (555) 123-4567, 1-800-555-0199, +44 20 7946 0958
  rule(
    /(?<![\w.])(?<phone>\+\d[\d\s().-]{6,18}\d|(?:1[\s.-])?(?:\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}|\d{3}-\d{4})(?![\w-])/gu,
    ({ phone = "" }) => sayGroups(phone),
  ),
  rule(/(?<=\b(?:call|dial|calling|dialed)\s)(?<phone>\d{3})\b/giu, ({ phone = "" }) =>
    digits(phone),
  ),
  // 123-45-6789 and other chains
  rule(/(?<![\w.])(?<chain>\d+(?:-\d+){2,})(?![\w-])/gu, ({ chain = "" }) => sayGroups(chain)),
  // 192.168.0.1
  rule(
    /(?<![\w.])(?<address>\d{1,3}(?:\.\d{1,3}){3})(?::(?<port>\d+))?(?![\w.]\d)/gu,
    ({ address = "", port = "" }) => {
      const parts = address.split(".").map(digits).join(" dot ");
      return port === "" ? parts : `${parts}, port ${cardinal(port)}`;
    },
  ),
  // v2.5, version 1.2.3
  rule(/\b[vV](?:er(?:sion)?\.?\s?)?(?<version>\d+(?:\.\d+)*)\b/gu, ({ version = "" }, { text }) =>
    /^v\s?\d/iu.test(text)
      ? `version ${sayVersion(version)}`
      : `${text.slice(0, text.search(/\d/u))}${sayVersion(version)}`,
  ),
  rule(/(?<![\w.,])(?<version>\d+(?:\.\d+){2,})(?![\w]|\.\d)/gu, ({ version = "" }) =>
    sayVersion(version),
  ),
  rule(/(?<![\w#])#\s?(?<n>\d+)\b/gu, ({ n = "" }) => `number ${cardinal(n)}`),
  rule(/\b[Nn]os?\.\s?(?=\d)/gu, () => "number "),
  // 21st
  rule(/(?<![\w.])(?<n>\d+(?:,\d{3})*)(?:st|nd|rd|th)\b/giu, ({ n = "" }) => ordinal(n)),
  rule(/\b24\/7\b/gu, () => "twenty-four seven"),
  rule(/\b(?<a>[79])\/11\b/gu, ({ a = "" }) => `${cardinal(a)} eleven`),
  rule(/(?<![\w./])(?<a>\d+)\/\k<a>(?![\w/])/gu, ({ a = "" }) => `${cardinal(a)} ${cardinal(a)}`),
  // 2 1/2, 3/4
  rule(
    /(?<![\w./,])(?<whole>\d+(?:,\d{3})*)(?:\s+|-)(?<a>\d{1,2})\/(?<b>\d{1,3})(?![\w/]|\.\d)/gu,
    ({ whole = "", a = "", b = "" }) => {
      const part = fraction(a, b);
      return `${cardinal(whole)} and ${a === "1" ? part.replace(/^one/u, "a") : part}`;
    },
  ),
  rule(/(?<![\w./])(?<a>\d+)\/(?<b>\d+)(?![\w/]|\.\d)/gu, ({ a = "", b = "" }) =>
    isFraction(a, b) ? fraction(a, b) : `${cardinal(a)} over ${cardinal(b)}`,
  ),
  // 16:9
  rule(
    /(?<![\w:.])(?<a>\d+):(?<b>\d+)(?![\w:])/gu,
    ({ a = "", b = "" }) => `${cardinal(a)} to ${cardinal(b)}`,
  ),
  // 10-20, 2019–2023
  rule(
    new RegExp(
      `(?<![\\w.,-])(?<from>${plain})\\s?[-–—]\\s?(?<to>${plain})(?![\\w-]|[.,]\\d)`,
      "gu",
    ),
    ({ from = "", to = "" }) =>
      isYear(from) && isYear(to)
        ? `${year(from)} to ${year(to)}`
        : `${decimal(from)} to ${decimal(to)}`,
  ),
  rule(
    new RegExp(`(?<=\\b(?:${yearWords})\\s)(?<n>1[1-9]\\d{2}|20\\d{2})\\b(?![,.]\\d)`, "giu"),
    ({ n = "" }) => year(n),
  ),
  rule(/(?<![\w.,])(?<n>19\d{2}|20\d{2})\b(?![,.]\d)/gu, ({ n = "" }) => year(n)),
  // 2^10
  rule(/(?<=\d)\s?\^\s?2\b/gu, () => " squared"),
  rule(/(?<=\d)\s?\^\s?3\b/gu, () => " cubed"),
  rule(/(?<=\d)\s?\^\s?(?=\d)/gu, () => " to the power of "),
  // A minus sign, not a hyphen or a dash
  rule(new RegExp(`(?<![\\w).,-])[-−](?<n>${plain}|\\.\\d+)`, "gu"), ({ n = "" }) =>
    decimal(`-${n}`),
  ),
  rule(/(?<![\w.,])0\d+\b(?![.,]\d)/gu, (_, { text }) => digits(text)),
  rule(/(?<![\w.,])\d{10,}\b/gu, (_, { text }) => (/0{6}$/u.test(text) ? undefined : digits(text))),
  rule(new RegExp(`${plain}|\\.\\d+`, "gu"), (_, { text, before, after }) => {
    const lead = /[A-Za-z]$/u.test(before) ? " " : "";
    const trail = /^[A-Za-z]/u.test(after) ? " " : "";
    return lead + decimal(text) + trail;
  }),
];

function isYear(text: string): boolean {
  return /^(?:1[1-9]|20)\d{2}$/u.test(text);
}

function isFraction(a: string, b: string): boolean {
  const top = Number(a);
  const bottom = Number(b);
  return (
    top > 0 &&
    (bottom <= 10 || bottom === 16 || bottom === 32 || bottom === 64 || bottom === 100) &&
    bottom > 1
  );
}

function sayVersion(text: string): string {
  return text
    .split(".")
    .map((part) => (part.length > 1 && part.startsWith("0") ? digits(part) : cardinal(part)))
    .join(" point ");
}

function sayGroups(text: string): string {
  const plus = text.startsWith("+") ? "plus " : "";
  return plus + (text.match(/\d+/gu) ?? []).map(digits).join(", ");
}
