/**
 * Turns broad American IPA, as pronouncing dictionaries write it, into the notation Kokoro was trained
 * on: one symbol a diphthong or affricate, the stress mark right before its vowel, the tapped t of
 * "water" as T, and reduced vowels as ᵊ (before l and n) and ᵻ (in the endings -es and -ed).
 */
const symbols: ReadonlyArray<readonly [RegExp, string]> = [
  [/ː|\u0361/gu, ""],
  // "virus", "entire": the dictionary loses the glide before an r-colored vowel.
  [/aɝ(?=[əiɪ])/gu, "Iɹ"],
  [/aɝ/gu, "Iɝ"],
  [/ɫ/gu, "l"],
  [/(?<!t)r/gu, "ɹ"],
  [/g/gu, "ɡ"],
  [/d([ˈˌ])ʒ/gu, "$1ʤ"],
  [/t([ˈˌ])ʃ/gu, "$1ʧ"],
  [/dʒ/gu, "ʤ"],
  [/tʃ/gu, "ʧ"],
  [/eɪ/gu, "A"],
  [/aɪ/gu, "I"],
  [/oʊ/gu, "O"],
  [/aʊ/gu, "W"],
  [/ɔɪ/gu, "Y"],
  [/e/gu, "ɛ"],
  [/o/gu, "O"],
  [/a/gu, "ɑ"],
  [/r/gu, "ɹ"],
];

const vowel = "AIOWYiuæɑɔəɛɜɪʊʌᵻ";
const marks = "ˈˌ";

export function fromIpa(ipa: string, word: string): string {
  let phonemes = ipa.normalize("NFC");
  for (const [pattern, symbol] of symbols) phonemes = phonemes.replace(pattern, symbol);
  phonemes = stressBeforeVowels(phonemes);
  phonemes = phonemes
    // The r-colored vowel: full when stressed ("bird"), weak otherwise ("mother").
    .replace(/(?<=[ˈˌ])[ɝɚ]/gu, "ɜɹ")
    .replace(/[ɝɚ](?=ɹ)/gu, "ə")
    .replace(/[ɝɚ]/gu, "əɹ");
  // American English has no glide here: "new", "tune", "due".
  phonemes = phonemes.replace(/(?<=[tdnszθ])j(?=[ˈˌ]u)/gu, "");
  if (/^hu/iu.test(word)) phonemes = phonemes.replace(/^j/u, "hj");
  // Careful speech keeps the t of "integrate" and "enterprise", and the full vowel of "un-".
  if (/^[ie]nt/iu.test(word)) phonemes = phonemes.replace(/^([ˈˌ]?[ɪɛ]n)ə/u, "$1tə");
  if (/^un(?!i)/iu.test(word)) phonemes = phonemes.replace(/^ən/u, "ˌʌn");
  if (!/[ˈˌ]/u.test(phonemes)) phonemes = stressFirstVowel(phonemes);
  return reduce(phonemes, word.toLowerCase());
}

/** Dictionaries put the mark before the syllable, Kokoro before the vowel: həˈlO is həlˈO. */
export function stressBeforeVowels(phonemes: string): string {
  return phonemes.replace(
    new RegExp(`([${marks}]+)([^${vowel}ɝɚ${marks}]+)(?=[${vowel}ɝɚ])`, "gu"),
    (_, mark: string, onset: string) => onset + mark.slice(0, 1),
  );
}

function stressFirstVowel(phonemes: string): string {
  return phonemes.replace(new RegExp(`[${vowel}]`, "u"), "ˈ$&").replace("ˈəɹ", "ˈɜɹ");
}

function reduce(phonemes: string, word: string): string {
  let reduced = phonemes
    // "button", "student": the vowel is hardly there, and the t stays a t.
    .replace(/(?<=[td])ən(?![AIOWYiuæɑɔəɛɜɪʊʌˈˌ])/gu, "ᵊn")
    // "little", "animal".
    .replace(/(?<=[bdfhklmnpstvzðŋɡʃʒʤʧθ])əl(?![AIOWYiuæɑɔəɛɜɪʊʌˈˌ])/gu, "ᵊl")
    // "water", "city", "party": a t between vowels, the second unstressed, is tapped.
    .replace(/(?<=[AIOWYiuæɑɔəɛɜɪʊʌɹ])t(?=[iəɪOuᵻA]|ᵊl)/gu, "T");
  // "Fundamental", "accidentally": the ending takes the stress.
  if (/entall?y?$/u.test(word) && /ˈ.*[əᵊ]nt(?:ᵊl|əli)$/u.test(reduced))
    reduced = reduced.replace("ˈ", "ˌ").replace(/[əᵊ]nt(?=(?:ᵊl|əli)$)/u, "ˈɛnt");
  if (/es$|'s$/u.test(word)) reduced = reduced.replace(/(?<=[szʃʒʤʧ])[əɪ]z$/u, "ᵻz");
  if (word.endsWith("ed")) reduced = reduced.replace(/(?<=[tdT])[əɪ]d$/u, "ᵻd");
  return reduced;
}
