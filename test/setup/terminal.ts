import { resolve } from "node:path";

const main = resolve(import.meta.dir, "../../src/main.ts");

/** A command on a terminal of its own, with somebody who reads and types. */
export interface OnTerminal {
  /** All that the screen was sent so far. */
  shown(): string;
  /** Resolves when this is on the screen; a command that ends without it has failed the test. */
  waitFor(text: string): Promise<void>;
  type(text: string): void;
  readonly exited: Promise<number>;
}

export function startOnTerminal(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): OnTerminal {
  let shown = "";
  let isOver = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", NO_COLOR: "1", ...environment },
    terminal: {
      cols: 200,
      rows: 50,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        wake();
      },
    },
  });
  const exited = child.exited.then((code) => {
    isOver = true;
    wake();
    return code;
  });
  return {
    shown: () => shown,
    async waitFor(text) {
      while (!shown.includes(text)) {
        if (isOver) throw new Error(`"${text}" never came on the screen:\n${shown}`);
        const { promise, resolve: done } = Promise.withResolvers<void>();
        waiting.add(done);
        await promise;
        waiting.delete(done);
      }
    },
    type: (text) => void child.terminal?.write(text),
    exited,
  };
}
