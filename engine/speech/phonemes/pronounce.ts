import { EnglishG2P } from "phonemize/en-g2p";
import { homograph, isPastRead, type Role, roleAfter } from "./homographs.ts";
import { fromIpa } from "./kokoro-ipa.ts";
import { lexicon } from "./lexicon.ts";

const english = new EnglishG2P();
const known = new Map<string, string>();
const knownLimit = 20_000;
const verbEndings = [
  ["ed", withEd],
  ["ing", withIng],
] as const;

export interface WordContext {
  /** The word before, in lower case. */
  readonly previous?: string | undefined;
}

/** Kokoro phonemes of one English word in lower case; an apostrophe is the only other character in it. */
export function pronounce(word: string, context: WordContext = {}): string {
  if (word === "read" && isPastRead(context.previous)) return "ɹˈɛd";
  const twofold = fromHomograph(word, roleAfter(context.previous));
  if (twofold !== undefined) return twofold;
  const found = lexicon.get(word) ?? known.get(word);
  if (found !== undefined) return found;
  const phonemes = fromStem(word) ?? fromIpa(english.predict(word) ?? "", word);
  if (known.size >= knownLimit) known.clear();
  known.set(word, phonemes);
  return phonemes;
}

function fromHomograph(word: string, role: Role | undefined): string | undefined {
  const whole = homograph(word, role);
  if (whole !== undefined) return whole;
  if (word.endsWith("s")) {
    const stem = homograph(word.slice(0, -1), role);
    if (stem !== undefined) return withS(stem);
  }
  for (const [ending, attach] of verbEndings) {
    if (!word.endsWith(ending)) continue;
    const bare = word.slice(0, -ending.length);
    const stem = homograph(bare, "verb") ?? homograph(`${bare}e`, "verb");
    if (stem !== undefined) return attach(stem);
  }
  return undefined;
}

/** The rules know bare words far better than inflected ones ("kinds", "types", "sometimes"). */
function fromStem(word: string): string | undefined {
  const possessive = /^(.+)'s$/u.exec(word);
  if (possessive !== null) return withS(pronounce(possessive[1] ?? ""));
  const irish = /^o'([a-z]{3,})$/u.exec(word);
  if (irish !== null) return `O${pronounce(irish[1] ?? "")}`;
  if (/^.+s'$/u.test(word)) return pronounce(word.slice(0, -1));
  const plural = pluralStem(word);
  if (plural !== undefined) return withS(pronounce(plural));
  for (const [ending, attach] of verbEndings) {
    const stem = verbStem(word, ending);
    if (stem !== undefined) return attach(stem);
  }
  return undefined;
}

function pluralStem(word: string): string | undefined {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is|ous|ics|yas|xas|nas)$/u.test(word)) {
    return undefined;
  }
  if (lexicon.has(word.slice(0, -1))) return word.slice(0, -1);
  if (/[^aeiou]ies$/u.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|zz|tz)es$/u.test(word)) return word.slice(0, -2);
  if (/(?:[^aeiou]o)es$/u.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** Endings after which the stem never had a silent e ("finding", "mixed", "pressed"). */
const bareStem =
  /(?:x|ss|ch|mb|ck|nd|ld|ct|pt|sh|wn|nt|rt|lt|ll|rk|sk|nk|mp|ft|ff|zz|[aeo]y|[oae]w|een|ea[dklnr]|ee[dp]|oa[dtn]|oo[dklmpt]|ai[dlnt])$/u;
/** Longer words whose last syllable is weak: "listen", "consider", "mention", "travel". */
const weakStem = /[aeiouy][^aeiouy]+(?:er|en|ion|el|on)$/u;

/** The stem's phonemes when the spelling leaves no doubt of it, or when the lexicon holds it. */
function verbStem(word: string, ending: "ed" | "ing"): string | undefined {
  if (!word.endsWith(ending)) return undefined;
  const stem = word.slice(0, -ending.length);
  const undoubled = /([bdgmnprt])\1$/u.test(stem) ? stem.slice(0, -1) : stem;
  for (const form of [stem, undoubled, `${stem}e`]) {
    const phonemes = form.length < 3 ? undefined : lexicon.get(form);
    if (phonemes !== undefined) return phonemes;
  }
  if (lexicon.has(word) || !/[aeiouy]/u.test(stem) || stem.length < 3) return undefined;
  return bareStem.test(stem) || weakStem.test(stem) ? pronounce(stem) : undefined;
}

export function withS(stem: string): string {
  if (/[ptTkfθ]$/u.test(stem)) return `${stem}s`;
  if (/[szʃʒʤʧ]$/u.test(stem)) return `${stem}ᵻz`;
  return `${stem}z`;
}

function withEd(stem: string): string {
  if (/[AIOWYiuæɑɔəɛɪɹʊʌ]t$/u.test(stem)) return `${stem.slice(0, -1)}Tᵻd`;
  if (/[td]$/u.test(stem)) return `${stem}ᵻd`;
  if (/[pkfθʃsʧ]$/u.test(stem)) return `${stem}t`;
  return `${stem}d`;
}

function withIng(stem: string): string {
  if (/[AIOWYiuæɑɔəɛɪɹʊʌ]t$/u.test(stem)) return `${stem.slice(0, -1)}Tɪŋ`;
  return `${stem}ɪŋ`;
}
