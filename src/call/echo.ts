/**
 * Finds the prompt at the start of an answer that repeats it (`echo` of completions): it is no output
 * of the model, so it is neither counted nor cut. An upstream that repeats nothing has said it all
 * itself.
 */
export class Echo {
  readonly #prompt: string;
  /** How much of the prompt has come back. */
  #seen = 0;
  #isOver = false;

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  /** What the model itself says in the next piece of the answer. */
  ownIn(piece: string): string {
    if (this.#isOver) return piece;
    const left = this.#prompt.length - this.#seen;
    const repeated = this.#prompt.slice(this.#seen, this.#seen + piece.length);
    if (!piece.startsWith(repeated)) {
      this.#isOver = true;
      return piece;
    }
    this.#seen += repeated.length;
    this.#isOver = piece.length >= left;
    return piece.slice(repeated.length);
  }
}
