/**
 * Writes text as it is spoken: numbers, dates, money, units, abbreviations, acronyms and signs become
 * words. What comes out holds English letters, apostrophes, hyphens and the punctuation Kokoro knows;
 * spelled acronyms carry a mark between their letters (`A·P·I`). Scripts the voices cannot read and
 * emoji are left out; Cyrillic is written in Latin letters, so that a name is heard at least.
 */
import { abbreviationRules } from "./abbreviations.ts";
import { acronymRules, nameRules } from "./acronyms.ts";
import { calendarRules } from "./calendar.ts";
import { labelRules, placeRules } from "./labels.ts";
import { numberRules } from "./numbers.ts";
import { quantityRules } from "./quantities.ts";
import { applyRules } from "./rules.ts";
import { leftoverRules, symbolRules } from "./symbols.ts";
import { webRules } from "./web.ts";

const rules = [
  ...webRules,
  ...calendarRules,
  ...abbreviationRules,
  ...symbolRules,
  ...placeRules,
  ...quantityRules,
  ...labelRules,
  ...nameRules,
  ...numberRules,
  ...acronymRules,
  ...leftoverRules,
];

/** One paragraph; line structure and markup are gone by now (markup.ts). */
export function normalize(paragraph: string): string {
  return tidy(toLatin(applyRules(prepare(paragraph), rules)));
}

const vulgarFractions: Readonly<Record<string, string>> = {
  "½": "1/2",
  "⅓": "1/3",
  "⅔": "2/3",
  "¼": "1/4",
  "¾": "3/4",
  "⅕": "1/5",
  "⅛": "1/8",
  "⅜": "3/8",
  "⅝": "5/8",
  "⅞": "7/8",
};

function prepare(text: string): string {
  return (
    text
      .replace(/(?<=\d)[½⅓⅔¼¾⅕⅛⅜⅝⅞]/gu, (sign) => ` ${vulgarFractions[sign] ?? ""}`)
      .replace(/[½⅓⅔¼¾⅕⅛⅜⅝⅞]/gu, (sign) => vulgarFractions[sign] ?? "")
      .replaceAll("⁄", "/")
      // The mark between spelled letters is ours alone.
      .replace(/[·•‣◦]/gu, " ")
      .replace(/[™®]/gu, "")
      .replaceAll("℃", "°C")
      .replaceAll("℉", "°F")
      .replaceAll("№", "number ")
      .replace(/[\uff01-\uff5e]/gu, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
      .replace(/[、，]/gu, ", ")
      .replace(/[。．]/gu, ". ")
      .replace(/[‘’‛ʼ´`]/gu, "'")
      .replace(/[“”„«»″]/gu, '"')
      .replace(/\.{2,}|…/gu, "…")
      .replace(/(?<=[!?])[!?]+/gu, "")
      .replace(/(?<=\s)[-–—]+(?=\s)|(?<=[A-Za-z])(?:--+|—)(?=[A-Za-z])/gu, "—")
      .replace(/--+/gu, "—")
      .replace(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/giu, "")
  );
}

const cyrillic: Readonly<Record<string, string>> = Object.fromEntries(
  "а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya і i ї yi є ye ґ g"
    .split(" ")
    .reduce<[string, string][]>((pairs, item, index, all) => {
      if (index % 2 === 0) pairs.push([item, (all[index + 1] ?? "").replace("_", "")]);
      return pairs;
    }, []),
);

const latinLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "th",
  þ: "th",
  ł: "l",
  ı: "i",
};

function toLatin(text: string): string {
  return text
    .replace(/\p{Script=Cyrillic}/gu, (letter) => cyrillic[letter.toLowerCase()] ?? "")
    .replace(/[ßæœøđðþłıÆŒØĐÐÞŁ]/gu, (letter) => latinLetters[letter.toLowerCase()] ?? letter)
    .normalize("NFD")
    .replace(/\p{M}/gu, "");
}

function tidy(text: string): string {
  return (
    text
      .replace(/[[\]{}]/gu, (bracket) => (/[[{]/u.test(bracket) ? "(" : ")"))
      .replace(/[–—]/gu, "—")
      .replaceAll("_", " ")
      .replace(/[^A-Za-z·'\s.,!?;:—…"()-]/gu, " ")
      // An apostrophe outside a word is a quotation mark nobody hears.
      .replace(/(?<![A-Za-z])'|'(?![A-Za-z])/gu, " ")
      .replace(/(?<![A-Za-z])-|-(?![A-Za-z])/gu, " ")
      .replace(/\(\s*\)|"\s*"/gu, " ")
      .replace(/\s+/gu, " ")
      .replace(/\s+(?=[.,!?;:…)])/gu, "")
      .replace(/(?<=\()\s+/gu, "")
      .replace(/[,;:—\s]+(?=[.!?])/gu, "")
      .replace(/(?<=[.!?…])[.,;:]+/gu, "")
      .replace(/,(?:\s*,)+/gu, ",")
      .replace(/(?<=[,;])(?=[A-Za-z])/gu, " ")
      .replace(/^[\s,;:.!?…—)]+/u, "")
      .trim()
  );
}
