/** So much of an answer is kept to be counted; what is longer is reckoned from it. */
const keptChars = 64 * 1024;
const joinedPieces = 8;
const joinedTexts = 64;

/** The words of an answer so far, also those that the caller did not want to see. */
export class Said {
  chars = 0;
  pieces = 0;
  #joined: string[] = [];
  #kept: string[] = [];
  #keptChars = 0;

  add(text: string): void {
    if (text === "") return;
    this.chars += text.length;
    this.pieces++;
    if (this.#keptChars >= keptChars) return;
    this.#keptChars += text.length;
    this.#kept.push(text);
    // A short string may hold on to the whole packet that it was cut from.
    if (this.#kept.length < joinedPieces) return;
    this.#joined.push(this.#kept.join(""));
    this.#kept = [];
    // And many short ones take far more memory than one long one.
    if (this.#joined.length === joinedTexts) this.#joined = [this.#joined.join("")];
  }

  get text(): string {
    return this.#joined.join("") + this.#kept.join("");
  }

  /** How many times what is kept the whole is. */
  get share(): number {
    return this.#keptChars === 0 ? 1 : this.chars / this.#keptChars;
  }

  /**
   * Whether the answer is surely longer than was allowed. Nobody knows another's tokens: pieces
   * are mostly one each, and few have more than eight characters.
   */
  isPast(allowedTokens: number): boolean {
    const { chars, pieces } = this;
    return chars > 32 * allowedTokens || (pieces > allowedTokens && chars > 8 * allowedTokens);
  }
}
