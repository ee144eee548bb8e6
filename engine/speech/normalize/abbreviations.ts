/** Abbreviations with a dot, initials, and Roman numerals. */
import { cardinal, ordinal } from "./number-words.ts";
import { type Rule, rule } from "./rules.ts";

/** Never at the end of a sentence: a name or a number follows. */
const titles: Readonly<Record<string, string>> = {
  Mr: "Mister",
  Mrs: "Missus",
  Ms: "Miz",
  Messrs: "Messrs",
  Prof: "Professor",
  Gen: "General",
  Sen: "Senator",
  Rep: "Representative",
  Gov: "Governor",
  Capt: "Captain",
  Lt: "Lieutenant",
  Col: "Colonel",
  Sgt: "Sergeant",
  Rev: "Reverend",
  Hon: "Honorable",
  Pres: "President",
  Supt: "Superintendent",
  Fig: "Figure",
  Figs: "Figures",
  Eq: "Equation",
  Sec: "Section",
  Ch: "Chapter",
  Vol: "Volume",
  Mt: "Mount",
  Ft: "Fort",
};

/** May end a sentence with their own dot. */
const others: Readonly<Record<string, string>> = {
  "a.k.a.": "also known as",
  "e.g.": "for example",
  "i.e.": "that is",
  "etc.": "et cetera",
  "et al.": "and others",
  "vs.": "versus",
  "cf.": "compare",
  "approx.": "approximately",
  "appt.": "appointment",
  "apt.": "apartment",
  "assoc.": "association",
  "ave.": "Avenue",
  "blvd.": "Boulevard",
  "rd.": "Road",
  "ln.": "Lane",
  "hwy.": "Highway",
  "bros.": "Brothers",
  "co.": "Company",
  "corp.": "Corporation",
  "dept.": "department",
  "est.": "established",
  "ext.": "extension",
  "govt.": "government",
  "inc.": "Incorporated",
  "incl.": "including",
  "jr.": "Junior",
  "sr.": "Senior",
  "ltd.": "Limited",
  "max.": "maximum",
  "min.": "minimum",
  "misc.": "miscellaneous",
  "op.": "opus",
  "pp.": "pages",
  "ref.": "reference",
  "temp.": "temperature",
  "univ.": "university",
  "esp.": "especially",
  "orig.": "originally",
  "tel.": "telephone",
  "oz.": "ounces",
  "lbs.": "pounds",
  "lb.": "pounds",
  "hr.": "hours",
  "hrs.": "hours",
  "mins.": "minutes",
  "secs.": "seconds",
  "yrs.": "years",
};

/** With no dot. */
const plain: Readonly<Record<string, string>> = {
  vs: "versus",
  "w/o": "without",
  "w/": "with",
  "b/c": "because",
  "c/o": "care of",
  "n/a": "not applicable",
  "N/A": "not applicable",
  "and/or": "and or",
};

const starters =
  "The|A|An|This|That|These|Those|He|She|It|We|They|You|I|My|Our|His|Her|Their|Its|But|And|Or|So|In|On|At|For|To|From|If|When|While|As|After|Before|Then|There|Here|However|What|Who|Where|Why|How|Please|Now|Yes|No|Not|With|By|Some|Many|Most|All|Both";
const sentenceEnd = new RegExp(`^["”')]*(?:\\s*$|\\s+["“(]?(?:${starters})\\b)`, "u");

const escape = (text: string): string => text.replace(/[./]/gu, "\\$&");
const roman = "(?<roman>(?:X{1,3}|X{0,3}(?:IX|IV|V?I{1,3}|V)))";
const monarchs =
  "Elizabeth|Henry|Louis|George|Charles|Edward|William|Richard|James|John|Paul|Benedict|Pius|Leo|Gregory|Innocent|Napoleon|Philip|Frederick|Catherine|Peter|Alexander|Nicholas|Ramses|Ramesses|Friedrich|Wilhelm|Ivan|Mary|Otto|Ferdinand|Francis|Urban|Clement|Julius|Gustav|Christian|Harald|Olav|Felipe|Carlos|Juan";
const chapters =
  "Chapter|Part|Act|Scene|Volume|Book|Section|Article|Appendix|Phase|Type|Level|Stage|Class|Title|Table|Figure|World War|War|Super Bowl|Episode|Season|Round|Unit|Module|Lesson|Page|Mark|Grade|Division|Tier";

export const abbreviationRules: readonly Rule[] = [
  rule(
    new RegExp(`(?<![\\w.])(?:${Object.keys(plain).map(escape).join("|")})(?![\\w/.])`, "gu"),
    (_, { text }) => plain[text],
  ),
  rule(/\b(?<title>Mr|Mrs|Ms)\.?(?=\s)/gu, ({ title = "" }) => titles[title]),
  rule(/\b(?<title>[A-Z][a-z]+)\.(?=\s+(?:[A-Z]|\d))/gu, ({ title = "" }) => titles[title]),
  // "Dr. Smith" but "Oak Dr."; "St. John" but "Main St."
  rule(/\bDr\.(?=\s+[A-Z])/gu, (_, { before }) => (isStreet(before) ? "Drive" : "Doctor")),
  rule(/\bDr\./gu, (_, { before, after }) =>
    isStreet(before) ? withStop("Drive", after) : "Doctor",
  ),
  rule(/\bSt\.(?=\s+[A-Z])/gu, (_, { before, after }) =>
    isStreet(before) && sentenceEnd.test(after)
      ? "Street."
      : isAddress(before)
        ? "Street"
        : "Saint",
  ),
  rule(/\bSt\./gu, (_, { after }) => withStop("Street", after)),
  rule(/\bPh\.?D\b\.?/gu, (_, { text, after }) =>
    text.endsWith(".") ? withStop("P·H·D", after) : "P·H·D",
  ),
  rule(
    new RegExp(`(?<![\\w.])(?:${Object.keys(others).map(escape).join("|")})(?!\\w)`, "giu"),
    (_, { text, after }) => {
      // "The score is min." is a word at a full stop, "min. 5" is not.
      if (
        /^(?:co|op|min|max|est|ref|temp|in)\.$/iu.test(text) &&
        !/^\s*[\d"A-Z]|^,/u.test(after) &&
        text !== "Co."
      ) {
        return undefined;
      }
      const said = others[text.toLowerCase()];
      return said === undefined ? undefined : withStop(said, after);
    },
  ),
  rule(/\bp\.\s?(?=\d)/gu, () => "page "),
  // U.S., D.C., J.R.R.
  rule(/\b(?:[A-Za-z]\.){2,}(?!\w)/gu, (_, { text, after }) => {
    const letters = text.replaceAll(".", "").toUpperCase();
    return withStop([...letters].join("·"), after);
  }),
  // J. K. Rowling, John F. Kennedy
  rule(/\b(?:[A-Z]\.\s){2,}(?=[A-Z][a-z])/gu, (_, { text }) =>
    text.replaceAll(".", "").replace(/[A-Z]/gu, "·$&"),
  ),
  rule(
    /(?<=\b[A-Z][a-z]+\s)(?<letter>[A-HJ-Z])\.(?=\s[A-Z][a-z])/gu,
    ({ letter = "" }) => `·${letter}`,
  ),
  // Elizabeth II, Chapter IV, Rocky III
  rule(
    new RegExp(`\\b(?<name>${monarchs})\\s+${roman}\\b(?!['.]\\w)`, "gu"),
    ({ name = "", roman: value = "" }) =>
      value === "I" ? undefined : `${name} the ${ordinal(String(fromRoman(value)))}`,
  ),
  rule(
    /\b(?<name>Elizabeth|Charles|Francis|Mary|Nicholas|Napoleon)\s+I\b(?=[,.;]|\s+of\b|\s+was\b)/gu,
    ({ name = "" }) => `${name} the first`,
  ),
  rule(
    new RegExp(`\\b(?<head>(?:${chapters})s?)\\s+${roman}\\b`, "gu"),
    ({ head = "", roman: value = "" }) => `${head} ${cardinal(String(fromRoman(value)))}`,
  ),
  rule(
    /(?<=\b[A-Z][a-z]+\s)(?<roman>II|III|IV|VI{1,3}|IX|XI{1,3}|XIV|XV|XVI{0,3}|XIX|XX)\b/gu,
    ({ roman: value = "" }) => cardinal(String(fromRoman(value))),
  ),
];

function withStop(said: string, after: string): string {
  return sentenceEnd.test(after) ? `${said}.` : said;
}

function isStreet(before: string): boolean {
  return /\b[A-Z][a-z]+\s$/u.test(before) && isAddress(before);
}

/** A house number, then one to three names. */
function isAddress(before: string): boolean {
  return /\d+[A-Za-z]?\s+(?:[NSEW]\.?\s+)?(?:[A-Z][\w'-]*\s+){1,3}$/u.test(before);
}

function fromRoman(text: string): number {
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10 };
  let total = 0;
  [...text].forEach((letter, index) => {
    const value = values[letter] ?? 0;
    const next = values[text[index + 1] ?? ""] ?? 0;
    total += value < next ? -value : value;
  });
  return total;
}
