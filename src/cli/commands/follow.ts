import { invalid, Problem } from "../../base/problem.ts";

/** The words of `--since`, after what it limits: `only lines since …`. */
export const sinceWords = "a duration ago such as 10m or 24h, a day, or a time (UTC)";

interface News {
  /** The position from which the next request continues. */
  readonly after: number;
  /** How many were dropped before they could be shown. */
  readonly missed: number;
}

export interface Following<T extends News> {
  readonly ask: (after: number | undefined) => Promise<T>;
  readonly show: (news: T) => void;
  /** The plural noun for what is shown. */
  readonly what: string;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Polls the server until the signal is aborted or standard output is closed. */
export async function follow<T extends News>(following: Following<T>): Promise<void> {
  const { ask, show, what, everyMs, signal } = following;
  let after: number | undefined;
  while (!signal.aborted && !process.stdout.destroyed) {
    const news = await ask(after).catch(toStopped);
    show(news);
    after = news.after;
    if (news.missed > 0)
      process.stderr.write(`${news.missed} ${what} are not shown: too many at once.\n`);
    await pause(everyMs, signal);
  }
  signal.throwIfAborted();
}

function toStopped(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem({ code: "failed", message: "The server has stopped.", cause: error });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

export function readLimit(text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= most) return limit;
  throw invalid({ limit: `limit must be a whole number between 1 and ${most}, not "${text}".` });
}
