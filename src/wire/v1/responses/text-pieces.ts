const joinedPieces = 64;

/** Text that comes in pieces: many short strings take far more memory than few long ones. */
export class TextPieces {
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  add(text: string): void {
    if (this.#pieces.push(text) < joinedPieces) return;
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  get text(): string {
    return this.#joined.join("") + this.#pieces.join("");
  }
}
