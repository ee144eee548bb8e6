import { functionWords } from "./lexicon.ts";
import { pronounce, withS } from "./pronounce.ts";

/** Between the letters of a spelled acronym, and before a lone letter: `A·P·I`, `·A`. */
export const letterMark = "·";

const letterNames: ReadonlyMap<string, string> = new Map(
  "ˈA bˈi sˈi dˈi ˈi ˈɛf ʤˈi ˈAʧ ˈI ʤˈA kˈA ˈɛl ˈɛm ˈɛn ˈO pˈi kjˈu ˈɑɹ ˈɛs tˈi jˈu vˈi dˈʌbᵊlju ˈɛks wˈI zˈi"
    .split(" ")
    .map((name, index) => [String.fromCharCode(65 + index), name]),
);

interface Token {
  readonly kind: "mark" | "word";
  readonly text: string;
  readonly spaced: boolean;
}

/** Kokoro phonemes of normalised text (normalize.ts): words, letters and punctuation. */
export function toPhonemes(text: string): string {
  const tokens = tokensOf(text);
  const out: string[] = [];
  // From the end, because "the", "to" and the small words depend on the sound that follows.
  let following = "";
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined) continue;
    const sound =
      token.kind === "mark"
        ? token.text
        : wordSound({ word: token.text, previous: tokens[index - 1], following });
    following = sound;
    out.push(token.spaced ? ` ${sound}` : sound);
  }
  return out.toReversed().join("").trim();
}

interface Spoken {
  readonly word: string;
  readonly previous: Token | undefined;
  readonly following: string;
}

function wordSound({ word, previous, following }: Spoken): string {
  if (word.includes(letterMark) || /^[B-HJ-Z]$/u.test(word)) return lettersSound(word);
  const lower = word.toLowerCase();
  const beforePause = !/^[^.,!?;:—…)”]/u.test(following);
  const beforeVowel = /^[ˈˌ]?[AIOWYiuæɑɔəɛɜɪʊʌ]/u.test(following);
  if (lower === "the" && beforeVowel) return "ði";
  if (lower === "to" && beforeVowel) return "tʊ";
  const small = functionWords.get(lower);
  // "A" before a pause is the letter: no sentence stops at its article.
  if (small !== undefined) return beforePause ? small.strong : small.weak;
  return pronounce(lower, previous?.kind === "word" ? previous.text.toLowerCase() : "");
}

/** The last letter carries the stress; a plural s closes the word: "A·P·Is". */
function lettersSound(word: string): string {
  const plural = /'?s$/u.test(word);
  const names = [...word].flatMap((letter) => letterNames.get(letter) ?? []);
  const sound = names
    .map((name, index) => (index === names.length - 1 ? name : name.replace("ˈ", "ˌ")))
    .join("");
  return plural ? withS(sound) : sound;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let open = false;
  let spaced = false;
  for (const [part] of text.matchAll(/\s+|-|[A-Za-z·]+(?:'[A-Za-z]+)*|[.,!?;:—…"“”()]/gu)) {
    // A hyphen joins words that are spoken apart: "twenty-five", "well-known".
    if (/^[\s-]/u.test(part)) {
      spaced = true;
      continue;
    }
    if (part === '"') {
      open = !open;
      tokens.push({ kind: "mark", text: open ? "“" : "”", spaced: open && spaced });
    } else if (/^[A-Za-z·]/u.test(part)) {
      for (const [index, text] of bounded(part).entries())
        tokens.push({ kind: "word", text, spaced: spaced || index > 0 });
    } else {
      const opens = /[(“—]/u.test(part);
      tokens.push({ kind: "mark", text: part, spaced: opens && spaced });
    }
    spaced = false;
  }
  return tokens;
}

/** No word is this long; noise is, and the rules for words take too long over it. */
function bounded(word: string): string[] {
  return word.match(/.{1,40}/gu) ?? [];
}
