import { Problem } from "../../base/problem.ts";
import { style } from "./output.ts";

export interface Terminal {
  /** What is typed; the terminal itself lets people correct a line before they send it. */
  readonly input: AsyncIterable<Uint8Array | string>;
  readonly write: (text: string) => void;
  /** Aborted by ctrl-c. */
  readonly signal: AbortSignal;
}

const stopped = "Stopped: nothing was written.";

/** Questions, one line each; an empty answer takes what is offered. */
export class Asker {
  readonly #terminal: Terminal;
  readonly #lines: AsyncIterator<string>;
  readonly #stopped: Promise<never>;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#lines = linesOf(terminal.input);
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = () => {
      terminal.write(`\n${stopped}\n`);
      reject(new Problem({ code: "failed", message: stopped }));
    };
    if (terminal.signal.aborted) stop();
    else terminal.signal.addEventListener("abort", stop, { once: true });
    promise.catch(() => {});
    this.#stopped = promise;
  }

  /** Asks again, with what was wrong, until `read` takes the answer. */
  async ask<T>(options: {
    readonly question: string;
    readonly offered: string;
    /** Throws a Problem that says what would be right. */
    readonly read: (answer: string) => T;
  }): Promise<T> {
    const { question, offered, read } = options;
    for (;;) {
      const hint = offered === "" ? "" : style.dim(` [${offered}]`);
      this.#terminal.write(`${question}${hint} `);
      const next = await Promise.race([this.#lines.next(), this.#stopped]);
      // ctrl-d: there will be no answer.
      if (next.done === true) {
        this.#terminal.write("\n");
        throw new Problem({ code: "failed", message: stopped });
      }
      const answer = next.value.trim();
      try {
        return read(answer === "" ? offered : answer);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.#terminal.write(`  ${style.yellow(error.message)}\n`);
      }
    }
  }

  confirm(question: string, offered: boolean): Promise<boolean> {
    return this.ask({ question, offered: offered ? "yes" : "no", read: readYes });
  }
}

function readYes(answer: string): boolean {
  if (/^y(es)?$/i.test(answer)) return true;
  if (/^no?$/i.test(answer)) return false;
  throw new Problem({ code: "invalid", message: "Answer yes or no." });
}

/** Any of a numbered list: `1,3`, `2-5`, names, `all` or `none`; gives their places. */
export function readChoice(answer: string, names: readonly string[]): readonly number[] {
  const words = answer.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 1 && words[0] === "all") return names.map((_, at) => at);
  if (words.length === 1 && words[0] === "none") return [];
  if (words.length === 0)
    throw new Problem({ code: "invalid", message: "Give numbers or names, all, or none." });
  const chosen = new Set(words.flatMap((word) => placesOf(word, names)));
  return [...chosen].toSorted((left, right) => left - right);
}

function placesOf(word: string, names: readonly string[]): readonly number[] {
  const named = names.indexOf(word);
  if (named !== -1) return [named];
  const range = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(word);
  const first = Number(range?.[1]);
  const last = Number(range?.[2] ?? range?.[1]);
  if (range === null || first < 1 || last < first || last > names.length)
    throw new Problem({
      code: "invalid",
      message: `"${word}" is none of them: give numbers from 1 to ${names.length}, names, all, or none.`,
    });
  return Array.from({ length: last - first + 1 }, (_, at) => first - 1 + at);
}

async function* linesOf(input: Terminal["input"]): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of input) {
    rest += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
