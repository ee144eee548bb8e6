/** Abbreviations with a dot, initials, and Roman numerals. */
import { cardinal, ordinal } from "./number-words.ts";
import { anyOf, type Rule, tableOf } from "./rules.ts";

/** Never at the end of a sentence: a name or a number follows. */
const titles = tableOf(
  "Mr=Mister|Mrs=Missus|Ms=Miz|Prof=Professor|Gen=General|Sen=Senator|Gov=Governor|Capt=Captain|Lt=Lieutenant|Col=Colonel|Sgt=Sergeant|Rev=Reverend|Fig=Figure|Eq=Equation|Sec=Section|Ch=Chapter|Vol=Volume|Mt=Mount|Ft=Fort",
);

/** May end a sentence with their own dot. */
const others = tableOf(
  "a.k.a.=also known as|e.g.=for example|i.e.=that is|etc.=et cetera|et al.=and others|vs.=versus|approx.=approximately|ave.=Avenue|blvd.=Boulevard|rd.=Road|apt.=apartment|bros.=Brothers|corp.=Corporation|dept.=department|ext.=extension|inc.=Incorporated|jr.=Junior|sr.=Senior|ltd.=Limited|pp.=pages|oz.=ounces|lbs.=pounds|lb.=pounds|hrs.=hours|mins.=minutes",
);

const undotted = tableOf(
  "vs=versus|w/o=without|w/=with|n/a=not applicable|N/A=not applicable|and/or=and or",
);

const starters =
  "The|A|An|This|That|These|Those|He|She|It|We|They|You|I|My|Our|His|Her|Their|But|And|Or|So|In|On|At|For|To|From|If|When|While|As|After|Before|Then|There|Here|However|What|Who|Where|Why|How|Please|Now|Yes|No|With|Some|Many|Most|All";
const sentenceEnd = new RegExp(`^["”')]*(?:\\s*$|\\s+["“(]?(?:${starters})\\b)`, "u");

const roman = "(?<roman>X{0,2}(?:IX|IV|V?I{1,3}|V)|X{1,2})";
const monarchs =
  "Elizabeth|Henry|Louis|George|Charles|Edward|William|Richard|James|John|Paul|Benedict|Pius|Leo|Napoleon|Philip|Frederick|Catherine|Peter|Alexander|Nicholas";
const chapters = "Chapter|Part|Act|Volume|Book|Section|Article|Appendix|Phase|Type|War|Class|Level";

export const abbreviationRules: readonly Rule[] = [
  [
    new RegExp(`(?<![\\w.])(?:${anyOf(undotted.keys())})(?![\\w/.])`, "gu"),
    (_, { text }) => undotted.get(text),
  ],
  [/\b(?<title>Mr|Mrs|Ms)\.?(?=\s)/gu, ({ title = "" }) => titles.get(title)],
  [/\b(?<title>[A-Z][a-z]+)\.(?=\s+(?:[A-Z]|\d))/gu, ({ title = "" }) => titles.get(title)],
  // "Dr. Smith" but "12 Oak Dr."; "St. John" but "12 Main St."
  [/\bDr\./gu, (_, { before, after }) => (isAddress(before) ? withStop("Drive", after) : "Doctor")],
  [
    /\bSt\./gu,
    (_, { before, after }) =>
      isAddress(before) || !/^\s+[A-Z]/u.test(after) ? withStop("Street", after) : "Saint",
  ],
  [
    /\bPh\.?D\b\.?/gu,
    (_, { text, after }) => (text.endsWith(".") ? withStop("P·H·D", after) : "P·H·D"),
  ],
  [
    new RegExp(`(?<![\\w.])(?:${anyOf(others.keys())})(?!\\w)`, "giu"),
    (_, { text, after }) => withStop(others.get(text.toLowerCase()) ?? text, after),
  ],
  [/\bp\.\s?(?=\d)/gu, "page "],
  // U.S., D.C., J.R.R.
  [
    /(?<![\w.])(?:[A-Za-z]\.){2,}(?!\w)/gu,
    (_, { text, after }) =>
      withStop(text.toUpperCase().split(".").filter(Boolean).join("·"), after),
  ],
  // J. K. Rowling, John F. Kennedy
  [/\b(?<letter>[A-HJ-Z])\.(?=\s(?:[A-Z]\.\s)*[A-Z][a-z])(?<=(?:^|[\s(])[A-Z]\.)/gu, initial],
  // Elizabeth II, Chapter IV, Rocky III
  [
    new RegExp(`(?<=\\b(?:${monarchs})\\s)(?!I\\b)${roman}\\b(?!['.]\\w)`, "gu"),
    ({ roman: value = "" }) => `the ${ordinal(fromRoman(value))}`,
  ],
  [
    new RegExp(
      `(?<=\\b(?:${chapters})\\s)${roman}\\b|(?<=\\b[A-Z][a-z]+\\s)(?:II|III|IV|VI{1,3}|IX|XI{1,3})\\b`,
      "gu",
    ),
    (_, { text }) => cardinal(fromRoman(text)),
  ],
];

function initial({ letter = "" }: Readonly<Record<string, string | undefined>>): string {
  return `·${letter}`;
}

function withStop(said: string, after: string): string {
  return sentenceEnd.test(after) ? `${said}.` : said;
}

/** A house number, then one to three names. */
function isAddress(before: string): boolean {
  return /\d+[A-Za-z]?\s+(?:[NSEW]\.?\s+)?(?:[A-Z][\w'-]*\s+){1,3}$/u.test(before);
}

function fromRoman(text: string): string {
  const values = [...text].map((letter) => ({ I: 1, V: 5, X: 10 })[letter] ?? 0);
  return String(
    values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0),
  );
}
