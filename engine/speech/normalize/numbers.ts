/** Numbers that stand alone: phones, versions, ordinals, fractions, years, ranges, then all others. */
import { amountWords, cardinal, digits, ordinal, year } from "./number-words.ts";
import type { Rule } from "./rules.ts";

const plain = "\\d+(?:,\\d{3})*(?:\\.\\d+)?";

export const numberRules: readonly Rule[] = [
  // +1 (555) 123-4567, 1-800-555-0199, +44 20 7946 0958, 123-45-6789
  [
    /(?<![\w.-])(?:\+\d[\d\s().-]{6,18}\d|(?:1[\s.-])?(?:\(\d{3}\)\s?|\d{3}[\s.-])\d{3}[\s.-]\d{4}|\d{3}-\d{4}|\d+(?:-\d+){2,})(?![\w-])/gu,
    (_, { text }) =>
      (text.startsWith("+") ? "plus " : "") + (text.match(/\d+/gu) ?? []).map(digits).join(", "),
  ],
  [/(?<=\b(?:call|dial)\s)\d{3}\b/giu, (_, { text }) => digits(text)],
  // 192.168.0.1:80
  [/(?<=(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}):(?=\d)/gu, ", port "],
  [
    /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)/gu,
    (_, { text }) => text.split(".").map(digits).join(" dot "),
  ],
  // v2.5, version 1.2.3
  [/\bv(?=\d)/giu, "version "],
  [
    /(?<=\bversion\s)\d+(?:\.\d+)*\b|(?<![\w.,])\d+(?:\.\d+){2,}(?!\w|\.\d)/giu,
    (_, { text }) =>
      text
        .split(".")
        .map((part) => (/^0\d/u.test(part) ? digits(part) : cardinal(part)))
        .join(" point "),
  ],
  [/(?<![\w#])#\s?(?=\d)|\b[Nn]os?\.\s?(?=\d)/gu, "number "],
  // 21st
  [/(?<![\w.])(?<n>\d+(?:,\d{3})*)(?:st|nd|rd|th)\b/giu, ({ n = "" }) => ordinal(n)],
  // 24/7, 9/11, 50/50
  [/\b(?:24\/7|9\/11|(?<a>\d+)\/\k<a>)(?![\w/])/gu, (_, { text }) => text.replace("/", " ")],
  // 2 1/2, 3/4
  [
    /(?<![\w./,])(?:\d+(?:,\d{3})*[\s-]+)?\d+\/\d+(?![\w/]|\.\d)/gu,
    (_, { text }) => amountWords(text),
  ],
  // 16:9, 10-20, 2019–2023
  [/(?<![\w:.])(?<a>\d+):(?=\d+(?![\w:]))/gu, "$<a> to "],
  [
    new RegExp(
      `(?<![\\w.,-])(?<from>${plain})\\s?[-–—]\\s?(?=(?:${plain})(?![\\w-]|[.,]\\d))`,
      "gu",
    ),
    "$<from> to ",
  ],
  [
    /(?:(?<=\b(?:in|since|by|from|until|of|year|circa|around|before|after)\s)1[1-8]|(?<![\w.,])(?:19|20))\d\d\b(?![,.]\d)/giu,
    (_, { text }) => year(text),
  ],
  // 2^10
  [/(?<=\d)\s?\^\s?2\b/gu, " squared"],
  [/(?<=\d)\s?\^\s?3\b/gu, " cubed"],
  [/(?<=\d)\s?\^\s?(?=\d)/gu, " to the power of "],
  // A minus sign, not a hyphen or a dash
  [/(?<![\w).,-])[-−](?=\.?\d)/gu, "minus "],
  [/(?<![\w.,])0\d+\b(?![.,]\d)/gu, (_, { text }) => digits(text)],
  [/(?<![\w.,])\d{10,}\b(?<!0{6})/gu, (_, { text }) => digits(text)],
  // MP3, 221b
  [/(?<=[A-Za-z])(?=\.?\d)|(?<=\d)(?=[A-Za-z])/gu, " "],
  [new RegExp(`${plain}|\\.\\d+`, "gu"), (_, { text }) => amountWords(text)],
];
