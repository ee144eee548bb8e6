import type { Tell } from "./data.ts";

/** How far it is: a bar for each part on a terminal, some lines elsewhere; on stderr. */
export class OverviewBar {
  readonly #isTerminal = process.stderr.isTTY === true;

  /** With the time that is left of this part. */
  part(name: string): Tell {
    const startedMs = performance.now();
    let told = -1;
    return (label, share) => {
      const passedMs = performance.now() - startedMs;
      const leftS = share === 0 ? undefined : Math.round((passedMs * (1 / share - 1)) / 1_000);
      const left = leftS === undefined ? "" : `, about ${leftS} s left`;
      const text = `${name}, ${Math.round(share * 100)} %: ${label}${left}`;
      if (this.#isTerminal) {
        const filled = Math.round(share * barWidth);
        const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
        process.stderr.write(`${clearLine}${bar} ${text}`);
        return;
      }
      const fifth = Math.floor(share * 5);
      if (fifth > told) process.stderr.write(`${text}\n`);
      told = Math.max(told, fifth);
    };
  }

  end(): void {
    if (this.#isTerminal) process.stderr.write(clearLine);
  }
}

const barWidth = 30;
const clearLine = "\r\x1b[2K";
