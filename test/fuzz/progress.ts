/** A bar on a terminal, plain lines elsewhere; on stderr, so that stdout holds the results alone. */
export class Progress {
  readonly #terminal = process.stderr.isTTY === true;
  #tenth = 0;

  /** Something that is told once. */
  tell(line: string): void {
    process.stderr.write(`${this.#terminal ? clearLine : ""}${line}\n`);
  }

  /** How far it is: drawn over itself, or a line at every tenth. */
  update(done: number, all: number): void {
    const share = all === 0 ? 1 : Math.min(1, done / all);
    if (this.#terminal) {
      const filled = Math.round(share * barWidth);
      const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
      process.stderr.write(`${clearLine}${bar} ${Math.round(share * 100)} %  ${done} cases`);
      return;
    }
    const tenth = Math.floor(share * 10);
    if (tenth > this.#tenth) process.stderr.write(`${done} of ${all} cases\n`);
    this.#tenth = tenth;
  }

  end(): void {
    if (this.#terminal) process.stderr.write(clearLine);
    this.#tenth = 0;
  }
}

const barWidth = 30;
const clearLine = "\r\x1b[2K";
