/**
 * What is being waited for, on stderr: one line that changes at a terminal, a line for each change
 * elsewhere.
 */
export class ProgressLine {
  readonly #isLive = process.stderr.isTTY === true;
  #shown = "";

  show(message: string): void {
    const text = message.replaceAll(/\p{Cc}+/gu, " ");
    if (text === this.#shown) return;
    if (this.#isLive) this.#rewrite(text);
    else process.stderr.write(`${text}\n`);
    this.#shown = text;
  }

  /** The line is gone when the wait is over. */
  clear(): void {
    if (this.#isLive && this.#shown !== "") this.#rewrite("");
    this.#shown = "";
  }

  /** Blanks instead of an escape sequence: every terminal knows them. */
  #rewrite(text: string): void {
    // Some terminals do not know, and say 0.
    const { columns: told = 0 } = process.stderr;
    const columns = (told > 0 ? told : 80) - 1;
    const fitting = text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
    process.stderr.write(`\r${" ".repeat(Math.min(columns, this.#shown.length))}\r${fitting}`);
  }
}
