import { likelyTokens } from "./likely-tokens.ts";
import { bytesOf, charsOf, piecesOf, sampleOf, type TextSample } from "./text-sample.ts";

/**
 * What the worker gets at once: the slowest text takes it a fraction of a second. The worker cuts
 * runs every 200 characters, and so does this.
 */
const pieceChars = 200 * 164;
/** Up to here a text is counted whole. Of a longer one, a part is counted. */
const wholeChars = 1_000_000;
const large = { places: 16, placeChars: 16_384 };
const small = { places: 16, placeChars: 256 };

/**
 * One list of texts that is being counted, piece by piece. The first piece of a long one is a small
 * sample of the whole, so that there is a good estimate if the rest takes too long.
 */
export class TokenCount {
  /** Of text that waits here. */
  readonly keptBytes: number;
  readonly #sizeBytes: number;
  readonly #counted: TextSample;
  readonly #glance: TextSample | undefined;
  #glanceTokens: number | undefined;
  readonly #pieces: Iterator<readonly string[]>;
  #piece: readonly string[] | undefined;
  #isGlancing: boolean;
  #tokens = 0;

  /** `isSampled`: counts nothing but a small sample. */
  constructor(texts: readonly string[], { isSampled = false } = {}) {
    this.#sizeBytes = bytesOf(texts);
    const chars = charsOf(texts);
    this.#counted =
      isSampled || chars > wholeChars
        ? sampleOf(texts, isSampled ? small : large)
        : { texts, factor: 1 };
    this.keptBytes = this.#counted.texts === texts ? this.#sizeBytes : bytesOf(this.#counted.texts);
    this.#isGlancing = !isSampled && chars > pieceChars;
    this.#glance = this.#isGlancing ? sampleOf(texts, small) : undefined;
    this.#pieces = piecesOf(this.#counted.texts, pieceChars);
    this.#advance();
  }

  get isEmpty(): boolean {
    return this.#sizeBytes === 0;
  }

  /** What the worker counts next; undefined: all is counted. */
  get piece(): readonly string[] | undefined {
    return this.#isGlancing ? this.#glance?.texts : this.#piece;
  }

  /** The worker's answer to the piece. False if it cannot be one. */
  take(answer: unknown): boolean {
    const isCount = typeof answer === "number" && answer >= 0;
    if (!isCount || answer > bytesOf(this.piece ?? [])) return false;
    if (this.#isGlancing) {
      this.#glanceTokens = answer;
      this.#isGlancing = false;
      return true;
    }
    this.#tokens += answer;
    this.#advance();
    return true;
  }

  /** All that is known by now: the count, a sample's count, or a likely number. */
  get tokens(): number {
    const { texts, factor } = this.#counted;
    const tokens =
      this.piece === undefined
        ? this.#tokens * factor
        : this.#glanceTokens !== undefined
          ? this.#glanceTokens * (this.#glance?.factor ?? 1)
          : likelyTokens(texts) * factor;
    return Math.min(this.#sizeBytes, Math.ceil(tokens));
  }

  #advance(): void {
    const next = this.#pieces.next();
    this.#piece = next.done === true ? undefined : next.value;
  }
}
