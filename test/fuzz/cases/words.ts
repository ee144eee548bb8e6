import type { Dice } from "./dice.ts";
import type { FuzzBody } from "./json-text.ts";
import { promptMark } from "./odd-values.ts";

const words = [
  "the",
  "a",
  "of",
  "weather",
  "in",
  "Paris",
  "is",
  "7",
  "degrees",
  "tomorrow",
  "Straße",
  "café",
  "naïve",
  "日本語",
  "привет",
  "مرحبا",
  "👋🏽",
  '"quoted"',
  "back\\slash",
  "line\nbreak",
  "tab\t",
  "</s>",
  "{}",
  "[1,2]",
  "null",
  "<|end|>",
  "e\u0301",
  "\u200b",
  "0.5",
  "-",
  "…",
  "https://page.test/?a=b&c",
  "# title",
  "```code```",
];

/** Parts of what could be a model's name or a path. */
export const modelWords: readonly string[] = `svc flash pro mini embedding tts latest preview 2.5 3
  models chat v1 v2 users keys admin debug health files images batches threads`.split(/\s+/);

/** What a person could have asked: no two are likely to be the same. */
export function sentence(dice: Dice, mostWords = 12): string {
  const said = dice.list(dice.between(1, mostWords), () => dice.pick(words)).join(" ");
  return `${promptMark} ${said} ${dice.below(100_000)}`;
}

/** Some of the fields. */
export function maybe(dice: Dice, fields: FuzzBody): FuzzBody {
  return Object.fromEntries(Object.entries(fields).filter(() => dice.percent(30)));
}
