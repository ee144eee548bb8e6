import { describe, expect, test } from "bun:test";
import { fromIpa } from "./kokoro-ipa.ts";
import { functionWords, lexicon } from "./lexicon.ts";
import { toPhonemes } from "./phonemes.ts";
import { pronounce } from "./pronounce.ts";
import { toSymbolIds, vocabulary } from "./vocabulary.ts";

describe("dictionary IPA in Kokoro's notation", () => {
  test.each([
    ["həˈɫoʊ", "hello", "həlˈO"],
    ["ˈwɔtɝ", "water", "wˈɔTəɹ"],
    ["ˈɫɪtəɫ", "little", "lˈɪTᵊl"],
    ["ˈbʌtən", "button", "bˈʌtᵊn"],
    ["ˈbɝd", "bird", "bˈɜɹd"],
    ["ˈdʒʌdʒ", "judge", "ʤˈʌʤ"],
    ["tʃɝtʃ", "church", "ʧˈɜɹʧ"],
    ["ˈmaʊs", "mouse", "mˈWs"],
    ["ˈbɔɪ", "boy", "bˈY"],
    ["əˈdʒʌst", "adjust", "əʤˈʌst"],
    ["ˈvaɝəs", "virus", "vˈIɹəs"],
    ["ˈnju", "new", "nˈu"],
    ["kæt", "cat", "kˈæt"],
    ["ˈboʊksəz", "boxes", "bˈOksᵻz"],
    ["əˈtæk", "attack", "ətˈæk"],
  ])("%s of %s", (ipa, word, phonemes) => {
    expect(fromIpa(ipa, word)).toBe(phonemes);
  });
});

describe("words", () => {
  test.each([
    ["things", "θˈɪŋz"],
    ["roses", "ɹˈOzᵻz"],
    ["movies", "mˈuviz"],
    ["wanted", "wˈɑntᵻd"],
    ["started", "stˈɑɹTᵻd"],
    ["finding", "fˈIndɪŋ"],
    ["mixed", "mˈɪkst"],
    ["listening", "lˈɪsᵊnɪŋ"],
    ["dog's", "dˈɑɡz"],
    ["o'neill", "Onˈil"],
    ["accidental", "ˌæksədˈɛntᵊl"],
    ["marching", "mˈɑɹʧɪŋ"],
    ["seventeen", "sˌɛvᵊntˈin"],
    ["unknown", "ˌʌnnˈOn"],
  ])("%s", (word, phonemes) => {
    expect(pronounce(word)).toBe(phonemes);
  });

  test.each([
    ["to", "record", "ɹɪkˈɔɹd"],
    ["the", "record", "ɹˈɛkəɹd"],
    ["they", "live", "lˈɪv"],
    ["a", "live", "lˈIv"],
    ["has", "read", "ɹˈɛd"],
    ["will", "read", "ɹˈid"],
    ["it", "reads", "ɹˈidz"],
    ["the", "use", "jˈus"],
    ["is", "separate", "sˈɛpəɹɪt"],
    ["the", "new", "nˈu"],
    ["has", "increased", "ˌɪnkɹˈist"],
    ["was", "used", "jˈuzd"],
  ])("after %s, %s", (previous, word, phonemes) => {
    expect(pronounce(word, previous)).toBe(phonemes);
  });

  test("are written only with symbols that the model knows", () => {
    const written = [
      ...lexicon.values(),
      ...[...functionWords.values()].flatMap((f) => [f.weak, f.strong]),
    ];
    const unknown = written.filter((phonemes) =>
      [...phonemes].some((symbol) => !vocabulary.has(symbol)),
    );
    expect(unknown).toEqual([]);
    expect(written.length).toBeGreaterThan(400);
  });
});

describe("sentences", () => {
  test.each([
    [
      "The sky above the port was the color of television, tuned to a dead channel.",
      "ðə skˈI əbˈʌv ðə pˈɔɹt wʌz ðə kˈʌləɹ ʌv tˈɛləvˌɪʒən, tˈund tə ɐ dˈɛd ʧˈænᵊl.",
    ],
    ["the apple, the cat", "ði ˈæpᵊl, ðə kˈæt"],
    ["Go to Italy. Yes, you can.", "ɡˈO tʊ ˈɪTəli. jˈɛs, ju kˈæn."],
    ["A·P·Is of the U·S·A", "ˌApˌiˈIz ʌv ðə jˌuˌɛsˈA"],
    ["plan B and vitamin ·A", "plˈæn bˈi ænd vˈITəmən ˈA"],
    ["twenty-five", "twˈɛnti fˈIv"],
    ['He said "no" (twice).', "hi sˈɛd “nˈO” (twˈIs)."],
  ])("%s", (text, phonemes) => {
    expect(toPhonemes(text)).toBe(phonemes);
  });

  test("numbers the symbols and drops what the model does not know", () => {
    expect(toSymbolIds("hˈi☃!")).toEqual([50, 156, 51, 5]);
    expect(vocabulary.size).toBe(114);
  });

  test("bounds a word without end", () => {
    expect(toPhonemes("a".repeat(4000)).split(" ").length).toBe(100);
  });
});
