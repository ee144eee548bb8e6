/**
 * Weighs the bytes of a JSON text before it is parsed, a piece at a time. Parsing cannot be
 * interrupted: 31 MB of `[` would hold the event loop for seconds and take gigabytes, where as much
 * text in one string takes some milliseconds. One unit of weight is about 7 ns of parsing, so the
 * bound is about 35 ms.
 */
export const maxJsonDepth = 1_000;
export const maxJsonWeight = 5_000_000;

const quote = 0x22;
const backslash = 0x5c;
/** Beside the one unit of each byte outside of strings. */
const escapeWeight = 4;
const entryWeight = 5;
const nestingWeight = 12;
const fieldWeight = 78;

/** The text need not be valid JSON. */
export class JsonWeight {
  readonly #maxWeight: number;
  #depth = 0;
  #weight = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(maxWeight = maxJsonWeight) {
    this.#maxWeight = maxWeight;
  }

  /** Of all that was added; of several texts, one after another, as well. */
  get total(): number {
    return this.#weight;
  }

  /** False once the text is nested too deeply or too heavy. */
  add(bytes: Uint8Array): boolean {
    let at = 0;
    // Each search goes on from the last one: no byte is looked at twice.
    let nextQuote = -1;
    let nextEscape = -1;
    while (at < bytes.length) {
      if (!this.#isInString) {
        at = this.#outside(bytes, at);
      } else if (this.#isEscaped) {
        this.#isEscaped = false;
        at++;
      } else {
        if (nextQuote < at) nextQuote = indexFrom(bytes, quote, at);
        if (nextEscape < at) nextEscape = indexFrom(bytes, backslash, at);
        const isEscape = nextEscape < nextQuote;
        this.#weight += isEscape ? escapeWeight : 0;
        this.#isEscaped = isEscape;
        this.#isInString = isEscape || nextQuote === bytes.length;
        at = Math.min(nextEscape, nextQuote) + 1;
      }
      if (this.#depth > maxJsonDepth || this.#weight > this.#maxWeight) return false;
    }
    return true;
  }

  /** Up to the next string, or to the end; gives up early when it gets too heavy. */
  #outside(bytes: Uint8Array, start: number): number {
    let at = start;
    let weight = 0;
    for (; at < bytes.length && weight <= this.#maxWeight; at++) {
      const byte = bytes[at] ?? 0;
      // White space is skipped far faster than anything is parsed.
      if (byte <= 0x20) continue;
      weight++;
      switch (byte) {
        case quote:
          this.#isInString = true;
          this.#weight += weight;
          return at + 1;
        case 0x5b: // [
        case 0x7b: // {
          weight += nestingWeight;
          if (++this.#depth > maxJsonDepth) return at + 1;
          break;
        case 0x5d: // ]
        case 0x7d: // }
          this.#depth--;
          break;
        case 0x2c: // ,
          weight += entryWeight;
          break;
        case 0x3a: // : (a field costs far more than an entry)
          weight += fieldWeight;
          break;
      }
    }
    this.#weight += weight;
    return at;
  }
}

function indexFrom(bytes: Uint8Array, byte: number, start: number): number {
  const at = bytes.indexOf(byte, start);
  return at === -1 ? bytes.length : at;
}
