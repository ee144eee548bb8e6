import { plainText } from "../../base/json/plain.ts";
import type { JsonObject } from "../../call/chat.ts";

const plain = new RegExp(`^${plainText}$`);
/** The values in which the deltas of one item differ. */
const hole = new RegExp(
  `"(?:(delta)|obfuscation)":"(${plainText})(?=")|"sequence_number":(?:0|[1-9]\\d{0,14})(?=[,}])`,
  "g",
);
const maxDigits = 15;
const zero = 0x30;
const quote = 0x22;

/**
 * Recognizes the delta events of a Responses stream that differ from an earlier one only in their
 * text, their number and their padding, which is nearly all of them, without parsing them.
 *
 * The event that it learns from was parsed, and is cut at these three values. Another event with the
 * same pieces, and between them nothing that ends a JSON string, needs an escape or is not a digit,
 * is as valid as that one.
 */
export class DeltaEvents {
  /** What stands around the values that differ. */
  readonly #pieces: readonly string[];
  readonly #textAt: number;

  private constructor(pieces: readonly string[], textAt: number) {
    this.#pieces = pieces;
    this.#textAt = textAt;
  }

  /** Undefined: its events are all parsed. */
  static from(event: string, { delta }: JsonObject): DeltaEvents | undefined {
    // In an inner object, a field of these names would be another one.
    if (event.includes("{", 1)) return undefined;
    const pieces: string[] = [];
    let textAt = -1;
    let from = 0;
    for (const { 0: found, 1: isText, 2: text, index } of event.matchAll(hole)) {
      const end = index + found.length;
      const start = text === undefined ? event.indexOf(":", index) + 1 : end - text.length;
      if (isText !== undefined) {
        if (textAt !== -1 || text !== delta) return undefined;
        textAt = pieces.length;
      }
      pieces.push(event.slice(from, start));
      from = end;
    }
    pieces.push(event.slice(from));
    return textAt === -1 ? undefined : new DeltaEvents(pieces, textAt);
  }

  /** The text of an event like the learned one; undefined: it must be parsed. */
  match(event: string): string | undefined {
    const pieces = this.#pieces;
    const last = pieces.length - 1;
    let words: string | undefined;
    let at = 0;
    for (let index = 0; index < last; index++) {
      const piece = pieces[index] ?? "";
      if (!event.startsWith(piece, at)) return undefined;
      at += piece.length;
      if (event.charCodeAt(at - 1) !== quote) {
        at = digitsEnd(event, at);
        continue;
      }
      const end = event.indexOf('"', at);
      const text = event.slice(at, end);
      if (end === -1 || !plain.test(text)) return undefined;
      if (index === this.#textAt) words = text;
      at = end;
    }
    const rest = pieces[last] ?? "";
    return event.length === at + rest.length && event.endsWith(rest) ? words : undefined;
  }
}

/** Without digits there, or with too many, the next piece does not match. */
function digitsEnd(event: string, start: number): number {
  if (event.charCodeAt(start) === zero) return start + 1;
  let end = start;
  while (end < start + maxDigits) {
    const digit = event.charCodeAt(end) - zero;
    if (!(digit >= 0 && digit <= 9)) break;
    end++;
  }
  return end === start ? event.length : end;
}
