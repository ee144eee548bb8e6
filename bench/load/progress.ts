/** A bar on a terminal, plain lines elsewhere; on stderr, so that stdout holds the results alone. */
export class Progress {
  readonly #terminal = process.stderr.isTTY === true;
  #steps = 0;
  #done = 0;

  expect(steps: number): void {
    this.#steps = steps;
  }

  /** Where the bench is; on a terminal the bar says as much. */
  tell(line: string): void {
    if (this.#terminal) this.#draw(line);
    else process.stderr.write(`${line}\n`);
  }

  step(label: string): void {
    this.#done++;
    if (this.#terminal) this.#draw(label);
  }

  end(): void {
    if (this.#terminal) process.stderr.write(clearLine);
  }

  #draw(label: string): void {
    const share = this.#steps === 0 ? 0 : Math.min(1, this.#done / this.#steps);
    const filled = Math.round(share * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    process.stderr.write(`${clearLine}${bar} ${Math.round(share * 100)} %  ${label}`);
  }
}

const barWidth = 30;
const clearLine = "\r\x1b[2K";
