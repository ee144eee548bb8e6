import { resolve } from "node:path";

const main = resolve(import.meta.dir, "../src/main.ts");

/** A command on a terminal of its own, with somebody who reads and types. */
export interface TerminalSession {
  /** Waits for this text after all that was waited for before. */
  waitFor(text: string): Promise<void>;
  type(text: string): void;
  /** All that was shown, line ends as files have them. */
  shown(): string;
  readonly exited: Promise<number>;
}

export function startOnTerminal(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): TerminalSession {
  const decoder = new TextDecoder();
  const state = { text: "", seen: 0, isOver: false };
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
  };
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: { ...environment, NO_COLOR: "1", TERM: "xterm" },
    terminal: {
      cols: 120,
      rows: 40,
      data(_terminal, bytes) {
        state.text += decoder.decode(bytes, { stream: true });
        wake();
      },
    },
  });
  const exited = child.exited.then((code) => {
    state.isOver = true;
    wake();
    return code;
  });
  return {
    async waitFor(text) {
      for (;;) {
        const at = state.text.indexOf(text, state.seen);
        if (at !== -1) {
          state.seen = at + text.length;
          return;
        }
        if (state.isOver) throw new Error(`"${text}" was not shown: ${state.text}`);
        const { promise, resolve: resume } = Promise.withResolvers<void>();
        waiting.add(resume);
        await promise;
        waiting.delete(resume);
      }
    },
    type: (text) => void child.terminal?.write(text),
    shown: () => state.text.replaceAll("\r\n", "\n"),
    exited,
  };
}
