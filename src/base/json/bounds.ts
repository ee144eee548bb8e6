import { nextTurn } from "../clock.ts";
import { maxJsonDepth } from "./weight.ts";

const quote = 0x22;
const backslash = 0x5c;

/**
 * Up to here nothing that can be in a text holds up the loop. The limit is low because of depth:
 * the runtime writes 24,000 levels in two milliseconds, and takes six seconds for 32,000.
 */
export const smallJsonChars = 16 * 1024;
/** From here on others have the event loop between counting, parsing and what follows. */
const largeJsonChars = 1024 * 1024;
/** Lists and objects, and fields: those of 4,096 tokens with 20 logprobs each. */
const maxGroups = 200_000;
/** Of a hundred vectors of 8,192 numbers, and more. */
const maxEntries = 900_000;
const maxFields = 270_000;
/** In texts: 4 MiB of nothing else take 50 ms, and no answer has a tenth of these. */
const maxEscapes = 600_000;

/**
 * Parses JSON that somebody else wrote; throws a RangeError before that would take long. Vectors are
 * hundreds of thousands of numbers, which cost little: what is counted is what costs, by native
 * searches. Brackets within strings count, too; there are never that many.
 */
export function parseBounded(text: string): unknown {
  if (isTooHeavy(text)) throw tooHeavy();
  return JSON.parse(text);
}

/** The same, in several turns of the event loop where the text is large. */
export function parseBoundedInTurns(text: string): unknown {
  return text.length <= largeJsonChars ? parseBounded(text) : parseLarge(text);
}

async function parseLarge(text: string): Promise<unknown> {
  if (isTooHeavy(text)) throw tooHeavy();
  await nextTurn();
  const value: unknown = JSON.parse(text);
  await nextTurn();
  return value;
}

const tooHeavy = () =>
  new RangeError("the JSON is nested too deeply or has too many values or escapes");

/** Whether parsing a text, or writing what was parsed, would hold up the loop. */
export function isTooHeavy(text: string): boolean {
  if (text.length <= smallJsonChars) return false;
  const groups = countUpTo(text, "[", maxGroups) + countUpTo(text, "{", maxGroups);
  if (groups > maxGroups || countUpTo(text, ":", maxFields) > maxFields) return true;
  if (countUpTo(text, ",", maxEntries) > maxEntries) return true;
  if (countUpTo(text, "\\", maxEscapes) > maxEscapes) return true;
  return groups > maxJsonDepth && isTooDeep(text);
}

/** How often a character is in a text. Stops when it is there more often than `most`. */
export function countUpTo(text: string, character: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1))
    if (++count > most) break;
  return count;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfText(text, at + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > maxJsonDepth) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
  return false;
}

/** The place of the closing quote. Most strings have no quote inside: one native search finds it. */
function endOfText(text: string, start: number): number {
  let at = text.indexOf('"', start);
  if (at === -1) return text.length;
  let before = at;
  while (before > start && text.charCodeAt(before - 1) === backslash) before--;
  if ((at - before) % 2 === 0) return at;
  for (at++; at < text.length && text.charCodeAt(at) !== quote; at++)
    if (text.charCodeAt(at) === backslash) at++;
  return at;
}
