import { bytesOf, sampleOf } from "./text-sample.ts";

/**
 * About how many tokens (o200k_base) the texts have, without the tokenizer: for where the counting
 * thread cannot answer. A bounded sample is looked at, and the result is at most one per byte.
 *
 * Each character counts by its script, as measured on prose, and Latin letters by what is before
 * them. Keys, base64 and source code have more tokens than prose, because a token ends where letters,
 * digits and signs meet. Random letters and mixed white space have many more. They must
 * count in full, because callers who exceed their share of exact counts pay by this estimate.
 */
export function likelyTokens(texts: readonly string[]): number {
  const { texts: parts, factor } = sampleOf(texts, looked);
  let tokens = 0;
  for (const part of parts) tokens += tokensIn(part);
  return Math.min(bytesOf(texts), Math.ceil(tokens * factor));
}

const looked = { places: 16, placeChars: 128 };

const space = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const sign = 4;
const other = 5;

/** Of ASCII, in the order above; of letters, the first of a word. */
const tokensPerChar = [0.03, 0.7, 0.7, 0.34, 0.5] as const;
const tokensPerChange = 0.5;
/** Line ends, tabs and spaces in turn; the tokenizer joins only those that are alike. */
const tokensPerSpaceChange = 0.65;
/** Vertical tabs and form feeds, which it joins with nothing. */
const tokensPerRareSpace = 1;
/** Words are made of pairs of letters that are usual; letters at random are not. */
const tokensPerUsualPair = { lower: 0.04, upper: 0.18 };
const tokensPerOtherPair = 0.48;
/** A letter, and those that often follow it in languages with Latin letters. */
const usualPairs = new Set(
  "aabcdgilmnorstuy baey cacehkortz dadeiors eacdefilmnpqrstuvwxy faio gaeln haeior iacdefgjlmnorst kaeko ladeilosy madeiop nacdegiost odfilmnoprstuvw paelort qu raeiostvyz saceikopstz taehiorstu uemnprst vaei waehino xt zai"
    .split(" ")
    .flatMap(([first = "", ...rest]) => rest.map((next) => pairOf(codeOf(first), codeOf(next)))),
);
/** By the last UTF-16 unit of a block of scripts. */
const scripts: readonly (readonly [last: number, tokensPerUnit: number])[] = [
  [0x009f, 1],
  [0x024f, 0.5],
  [0x036f, 0.9],
  [0x03ff, 0.3],
  [0x052f, 0.25],
  [0x058f, 0.6],
  [0x06ff, 0.3],
  [0x0dff, 0.4],
  [0x0eff, 0.4],
  [0x1fff, 1],
  [0x206f, 0.7],
  [0x2fff, 1.5],
  [0x30ff, 0.75],
  [0x33ff, 1.5],
  [0x4dbf, 2.5],
  [0x9fff, 0.85],
  [0xabff, 2.5],
  [0xd7ff, 0.8],
  // Half of a pair: emoji have about two tokens, rare characters up to four.
  [0xdfff, 1],
  [0xfaff, 2.5],
  [0xffff, 1],
];

function tokensIn(text: string): number {
  let tokens = 0;
  let before = space;
  let unitBefore = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const kind = unit < 0x7f ? kindOf(unit) : other;
    if (kind === space) tokens += tokensOfSpace(unit, before === space ? unitBefore : undefined);
    // A capital letter begins a word, and a space belongs to the word behind it.
    else if (isLetter(kind) && isLetter(before) && !(before === lower && kind === upper))
      tokens += tokensOfPair(unitBefore, unit, kind);
    else {
      tokens += tokensPerChar[kind] ?? scripts.find(([last]) => unit <= last)?.[1] ?? 1;
      if (kind !== before && before !== space && !isLetter(kind)) tokens += tokensPerChange;
    }
    before = kind;
    unitBefore = unit;
  }
  return tokens;
}

const isLetter = (kind: number) => kind === lower || kind === upper;

function tokensOfSpace(unit: number, unitBefore: number | undefined): number {
  if (unit === 0x0b || unit === 0x0c) return tokensPerRareSpace;
  return unit === (unitBefore ?? 0x20) ? tokensPerChar[space] : tokensPerSpaceChange;
}

function tokensOfPair(first: number, next: number, kind: number): number {
  if (!usualPairs.has(pairOf(first | 0x20, next | 0x20))) return tokensPerOtherPair;
  return kind === upper ? tokensPerUsualPair.upper : tokensPerUsualPair.lower;
}

function pairOf(first: number, next: number): number {
  return first * 0x80 + next;
}

function codeOf(letter: string): number {
  return letter.charCodeAt(0);
}

function kindOf(unit: number): number {
  if (unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) return space;
  if (unit < 0x20) return other;
  if (unit >= 0x61 && unit <= 0x7a) return lower;
  if (unit >= 0x41 && unit <= 0x5a) return upper;
  return unit >= 0x30 && unit <= 0x39 ? digit : sign;
}
