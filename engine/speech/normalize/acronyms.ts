/** Words in capitals: spelled letter by letter, read as a word, or merely loud. */
import type { Rule } from "./rules.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Read as a word although they are short or hard to say. */
const spoken = words(
  "ACID AIDS ASCII BIOS CAPTCHA COVID CRUD DOS FIFA FOMO GIF GUI IKEA ISO JPEG JSON LAN LASER MIDI NASA NASDAQ NATO OAUTH OK OPEC PIN RAM REGEX REST ROM SARS SIM SOAP SWAT UNESCO UNICEF UNIX WIFI YAML ZIP",
);
/** Spelled although they could be read as a word. */
const spelled = words(
  "US IT UK EU UN AI AM PM TV PC ID IP OS UI HR PR AC DC LA NY ASAP DIY FAQ USA USB URL API CIA FBI IRS SOS VIP ATM CEO CFO CTO ETA EST ADHD AAA IEEE UFO AMD ARM CPU GPU IDE LED SQL LLM MIT NBA NFL SUV IPO ROI NGO IQ EV",
);
/** Short common words that people put in capitals to be loud. */
const loud = words(
  "a act add age ago air all am an and any are as ask at bad be big buy but by bye can car cat cut dad day did do dog eat end far few for fun get go god got guy had has he her hey him his hit hot how i if in is it its job joy kid law let lie lot low man map may me mom my new no not now odd of off oh oil old on one or our out own pay put raw red run sad say sea see set she sir sit six sky so son sun tax tea ten the tie tip to too top try two up us use war was way we wet who why win wow yes yet you",
);
/** Letters in a row that no English syllable can hold. */
const unpronounceable =
  /^[^AEIOUY]+$|^[^AEIOUY]{3,}(?<!S[CPT][RL])|[AEIOUY]{3,}|^(?:[BDFGKMNPRTV][BCDFGKMNPTVZ]|[LMN][^AEIOUY]|R[^AEIOUYH])|(?:[BCDFGKPTV][BDFGKMNV]|[^AEIOUY]{4,}|S[BDGR]|[BD]N|ML|TM|UU|II)$|Q(?!U)/u;

/** Before the numbers, which would otherwise part them from their names. */
export const nameRules: readonly Rule[] = [
  [/\bC\+\+/gu, "·C plus plus"],
  [/\b(?<letter>[CFJ])#/gu, "·$<letter> sharp"],
  [/(?<!\w)\.NET\b/gu, "dot net"],
  [/\bPhD\b/gu, "P·H·D"],
  [/\bAT&T\b/gu, "A·T and T"],
  [/\bCtrl\b/giu, "control"],
  [/\biOS\b/gu, "ios"],
  [/\bmacOS\b/gu, "macos"],
  [/\bWi-?Fi\b/giu, "wifi"],
  // COVID-19, GPT-4: the number is read on its own.
  [/(?<=\b[A-Z]{1,6})-(?=\d)/gu, " "],
  // camelCase, vCPUs; but not McDonald or YouTube
  [
    /(?<!\b(?:Mc|Mac|De|La|Le|Van|You|Git|Pay|Deep|Open|Java|Type|Photo|My|Postgre|Chat))(?:(?<=[a-z]{2})(?=[A-Z][A-Za-z])|(?<=[a-z])(?=[A-Z]{2,}s?\b))/gu,
    " ",
  ],
  // Written small as often as in capitals, and then said the same.
  [
    /(?<![\w·'])(?:npm|npx|https?|api|url|json|html|css|xml|csv|sql|cpu|gpu|llm|sdk|cli|ssh|dns)(?='?s?(?![\w·]))/giu,
    (_, { text }) => text.toUpperCase(),
  ],
  [
    /(?<=\b(?:[Vv]itamin|[Hh]epatitis|[Pp]lan|[Oo]ption|[Gg]roup|[Tt]ype|[Gg]rade|[Cc]lass)\s)A\b/gu,
    "·A",
  ],
];

/** Sentence by sentence: in one that is all in capitals, few of them are acronyms. */
export function sayCapitals(text: string): string {
  return text
    .split(/(?<=[.!?])/u)
    .map((sentence) => {
      const shouting = isShouting(sentence);
      return sentence.replace(/(?<![\w·])(?<head>[A-Z]{2,})(?='?s?(?![\w·]))/gu, (head) =>
        sayWord(head, shouting),
      );
    })
    .join("");
}

function sayWord(head: string, shouting: boolean): string {
  const lower = head.toLowerCase();
  if (spoken.has(head)) return lower;
  if (loud.has(lower) && (shouting || !spelled.has(head))) return head;
  const isSpelled =
    spelled.has(head) || unpronounceable.test(head) || (head.length <= 3 && !shouting);
  return isSpelled ? [...head].join("·") : head;
}

function isShouting(sentence: string): boolean {
  const all = sentence.match(/[A-Za-z']{2,}/gu) ?? [];
  const capitals = all.filter((word) => word === word.toUpperCase() && isLoud(word));
  return all.length >= 3 && capitals.length * 10 >= all.length * 6;
}

function isLoud(word: string): boolean {
  if (loud.has(word.toLowerCase())) return true;
  return word.length >= 4 && !spelled.has(word) && !unpronounceable.test(word);
}
