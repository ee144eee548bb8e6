/** The current wait, on stderr: one line that is rewritten on a terminal, otherwise one per change. */
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

  /** Removes the line when the wait is over. */
  clear(): void {
    if (this.#isLive && this.#shown !== "") this.#rewrite("");
    this.#shown = "";
  }

  /** Overwrites with spaces, because not every terminal supports escape sequences. */
  #rewrite(text: string): void {
    // Some terminals report 0.
    const { columns: told = 0 } = process.stderr;
    const columns = (told > 0 ? told : 80) - 1;
    const fitting = text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
    process.stderr.write(`\r${" ".repeat(Math.min(columns, this.#shown.length))}\r${fitting}`);
  }
}
