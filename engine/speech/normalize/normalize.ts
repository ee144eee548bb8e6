/**
 * Writes text as it is spoken: numbers, dates, money, units, abbreviations, acronyms and symbols become
 * words. What comes out holds English letters, apostrophes, hyphens and the punctuation Kokoro knows;
 * spelled acronyms carry a mark between their letters (`A·P·I`). Scripts the voices cannot read and
 * emoji are left out; Cyrillic is written in Latin letters, so that a name is heard at least.
 */
import { abbreviationRules } from "./abbreviations.ts";
import { nameRules, sayCapitals } from "./acronyms.ts";
import { calendarRules } from "./calendar.ts";
import { numberRules } from "./numbers.ts";
import { quantityRules } from "./quantities.ts";
import { anyOf, applyRules, type Rule, tableOf } from "./rules.ts";
import { webRules } from "./web.ts";

const fractions = tableOf("½=1/2|⅓=1/3|⅔=2/3|¼=1/4|¾=3/4|⅛=1/8|⅜=3/8|⅝=5/8|⅞=7/8");

/** One spelling of each mark, so that the rules need not know the others. */
const spellingRules: readonly Rule[] = [
  [
    /[½⅓⅔¼¾⅛⅜⅝⅞]/gu,
    (_, { text, before }) => (/\d$/u.test(before) ? " " : "") + (fractions.get(text) ?? ""),
  ],
  [/⁄/gu, "/"],
  // The mark between spelled letters is ours alone.
  [/[·•‣◦]/gu, " "],
  [/[™®]/gu, ""],
  [/℃/gu, "°C"],
  [/℉/gu, "°F"],
  [/№/gu, "number "],
  [/[\uff01-\uff5e]/gu, (_, { text }) => String.fromCharCode(text.charCodeAt(0) - 0xfee0)],
  [/[、，]/gu, ", "],
  [/[。．]/gu, ". "],
  [/[‘’‛ʼ´`]/gu, "'"],
  [/[“”„«»″]/gu, '"'],
  [/\.{2,}|…/gu, "…"],
  [/(?<=[!?])[!?]+/gu, ""],
  [/(?<=\s)[-–—]+(?=\s)|--+/gu, "—"],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/giu, ""],
];

const operatorRules: readonly Rule[] = [
  // A row of one symbol is an ornament.
  [/([=*_#~+<>|\\/@&%$^-])\1{2,}/gu, " "],
  [/=>|->|→|⇒|←|<-/gu, ", "],
  [/==+/gu, " equals "],
  [/!=/gu, " is not equal to "],
  [/&&/gu, " and "],
  [/(?<=\d)\s?\*\s?(?=\d)/gu, " times "],
  [/(?<!\w)~\s?(?=[\d$€£])/gu, "about "],
];

const symbols = tableOf(
  "&=and|+=plus|==equals|≠=is not equal to|<=less than|>=greater than|≤=less than or equal to|≥=greater than or equal to|≈=approximately|±=plus or minus|×=times|÷=divided by|√=square root of|∞=infinity|%=percent|@=at|#=number|©=copyright|§=section|°=degrees|\\=backslash|£=pounds|€=euros|$=dollars|α=alpha|β=beta|λ=lambda|µ=mu|π=pie|σ=sigma|Δ=delta|Σ=sigma|Ω=omega",
);

/** After the numbers, when a slash or a symbol has no number to belong to. */
const symbolRules: readonly Rule[] = [
  [/(?<=[A-Za-z0-9)])²/gu, " squared"],
  [/(?<=[A-Za-z0-9)])³/gu, " cubed"],
  [/(?<=[A-Za-z])\s?\/\s?(?=[A-Za-z])/gu, " slash "],
  // A Greek letter is said, a Greek word is not.
  [/\p{Script=Greek}{2,}/gu, " "],
  [new RegExp(anyOf(symbols.keys()), "gu"), (_, { text }) => ` ${symbols.get(text) ?? ""} `],
];

const letters = tableOf(
  "а=a|б=b|в=v|г=g|д=d|е=e|ж=zh|з=z|и=i|к=k|л=l|м=m|н=n|о=o|п=p|р=r|с=s|т=t|у=u|ф=f|х=kh|ц=ts|ч=ch|ш=sh|щ=shch|ы=y|э=e|ю=yu|я=ya|і=i|є=ye|ґ=g|ß=ss|æ=ae|œ=oe|ø=o|đ=d|ð=th|þ=th|ł=l|ı=i",
);

const tidyRules: readonly Rule[] = [
  [/\p{Script=Cyrillic}|[ßæœøđðþłı]/giu, (_, { text }) => letters.get(text.toLowerCase()) ?? ""],
  [/[[{]/gu, "("],
  [/[\]}]/gu, ")"],
  [/[–—]/gu, "—"],
  [/[^A-Za-z\p{M}·'\s.,!?;:—…"()-]/gu, " "],
  [/\p{M}/gu, ""],
  // An apostrophe outside a word is a quotation mark nobody hears.
  [/(?<![A-Za-z])['-]|['-](?![A-Za-z])/gu, " "],
  [/\(\s*\)|"\s*"/gu, " "],
  [/\s+/gu, " "],
  [/\s(?=[.,!?;:…)])/gu, ""],
  [/(?<=\()\s/gu, ""],
  [/(?<![,;:—\s])[,;:—\s]+(?=[.!?])/gu, ""],
  [/(?<=[.!?…])[.,;:]+/gu, ""],
  [/,(?:\s*,)+/gu, ","],
  [/(?<=[,;])(?=[A-Za-z])/gu, " "],
  [/^[\s,;:.!?…—)]+/u, ""],
];

const speakingRules: readonly Rule[] = [
  ...spellingRules,
  ...webRules,
  ...calendarRules,
  ...abbreviationRules,
  ...operatorRules,
  ...quantityRules,
  ...nameRules,
  ...numberRules,
];

/** One paragraph; line structure and markup are gone by now (markup.ts). */
export function normalize(paragraph: string): string {
  const spoken = applyRules(sayCapitals(applyRules(paragraph, speakingRules)), symbolRules);
  return applyRules(spoken.normalize("NFD"), tidyRules).trim();
}
