import { EnglishG2P } from "phonemize/en-g2p";
import { fromIpa } from "./kokoro-ipa.ts";
import { lexicon } from "./lexicon.ts";

const english = new EnglishG2P();
const known = new Map<string, string>();
const knownLimit = 20_000;

/** What phonemize calls verbs and everything else: "to record", "the record". */
type Role = "V" | "N";

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

const beforeVerbs = words(
  "to will would can could should must may might shall i you we they who let's don't didn't doesn't can't won't not never please and i'll you'll we'll they'll",
);
const beforeNouns = words(
  "a an the this that these those my your his her its our their no some any each every another of in on at for with by from about one two three first last next new own",
);
const beforeParticiples = words(
  "have has had was were been be is are having he she it already ever",
);
/** Verbs, unless the word before tells otherwise. */
const usualVerbs = words(
  "live use produce combine convert construct extract insert refuse reject resume excuse read",
);

/** Kokoro phonemes of one English word in lower case; an apostrophe is the only other character in it. */
export function pronounce(word: string, previous = ""): string {
  // "Has read" is said "red", which phonemize gives for the noun.
  if (word === "read") return soundOf(word, beforeParticiples.has(previous) ? "N" : "V");
  if (beforeNouns.has(previous) || previous.endsWith("'s")) return soundOf(word, "N");
  return soundOf(word, beforeVerbs.has(previous) ? "V" : undefined);
}

function soundOf(word: string, role: Role | undefined): string {
  const listed = lexicon.get(word);
  if (listed !== undefined) return listed;
  const key = `${word} ${role ?? ""}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const phonemes = fromStem(word, role) ?? fromIpa(ipaOf(word, role ?? usualRole(word)), word);
  if (known.size >= knownLimit) known.clear();
  known.set(key, phonemes);
  return phonemes;
}

/** Asked for a role, phonemize takes the stress off other words too, so only homographs are asked so. */
function ipaOf(word: string, role: Role | undefined): string {
  const whole = role !== undefined && isHomograph(word) ? english.predict(word, "en", role) : null;
  return whole ?? english.predict(word) ?? "";
}

function isHomograph(word: string): boolean {
  return english.predict(word, "en", "V") !== english.predict(word, "en", "N");
}

/** Without a word before it that tells: "separate" and the like are adjectives more often than verbs. */
function usualRole(word: string): Role | undefined {
  if (usualVerbs.has(word)) return "V";
  return word.endsWith("ate") ? "N" : undefined;
}

/** phonemize knows bare words far better than inflected ones ("kinds", "types", "sometimes"). */
function fromStem(word: string, role: Role | undefined): string | undefined {
  const [bare = "", mark] = word.split("'");
  if (mark === "s") return withS(soundOf(bare, "N"));
  if (mark === "") return soundOf(bare, "N");
  if (bare === "o" && mark !== undefined && mark.length > 2) return `O${soundOf(mark, "N")}`;
  const plural = pluralStem(word);
  if (plural !== undefined) return withS(soundOf(plural, role));
  const past = verbStem(word, "ed");
  if (past !== undefined) return withEd(past);
  const ongoing = verbStem(word, "ing");
  return ongoing === undefined ? undefined : `${tapped(ongoing)}ɪŋ`;
}

function pluralStem(word: string): string | undefined {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is|ics|yas|xas|nas)$/u.test(word))
    return undefined;
  if (lexicon.has(word.slice(0, -1))) return word.slice(0, -1);
  if (/[^aeiou]ies$/u.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(?:ss|sh|ch|x|zz|tz|[^aeiou]o)es$/u.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

/** Endings after which the stem never had a silent e ("finding", "mixed", "pressed"). */
const bareStem =
  /(?:x|ss|ch|mb|ck|nd|ld|ct|pt|sh|wn|nt|rt|lt|ll|rk|sk|nk|mp|ft|ff|zz|[aeo]y|[oae]w|een|ea[dklnr]|ee[dp]|oa[dtn]|oo[dklmpt]|ai[dlnt])$/u;
/** Longer words whose last syllable is weak: "listen", "consider", "mention", "travel". */
const weakStem = /[aeiouy][^aeiouy]+(?:er|en|ion|el|on)$/u;

/** The stem's phonemes when the spelling leaves no doubt of it, or when the word is a known one. */
function verbStem(word: string, ending: "ed" | "ing"): string | undefined {
  const stem = word.slice(0, -ending.length);
  if (!word.endsWith(ending) || stem.length < 2) return undefined;
  const single = /([bdgmnprt])\1$/u.test(stem) ? stem.slice(0, -1) : stem;
  for (const form of [stem, single, `${stem}e`]) {
    const phonemes = form.length < 3 ? undefined : lexicon.get(form);
    if (phonemes !== undefined) return phonemes;
    if (isHomograph(form)) return soundOf(form, "V");
  }
  if (stem.length < 3 || !/[aeiouy]/u.test(stem)) return undefined;
  return bareStem.test(stem) || weakStem.test(stem) ? soundOf(stem, "V") : undefined;
}

export function withS(stem: string): string {
  if (/[ptTkfθ]$/u.test(stem)) return `${stem}s`;
  return /[szʃʒʤʧ]$/u.test(stem) ? `${stem}ᵻz` : `${stem}z`;
}

function withEd(stem: string): string {
  if (/[td]$/u.test(stem)) return `${tapped(stem)}ᵻd`;
  return /[pkfθʃsʧ]$/u.test(stem) ? `${stem}t` : `${stem}d`;
}

/** A t after a vowel is tapped before these endings: "waiting". */
function tapped(stem: string): string {
  return stem.replace(/(?<=[AIOWYiuæɑɔəɛɪɹʊʌ])t$/u, "T");
}
