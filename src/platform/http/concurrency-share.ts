import { Problem } from "../../base/problem.ts";

export interface ShareLimits {
  /** Of one asker at the same time. */
  readonly mostAtOnce: number;
  /** Of one asker, besides those. */
  readonly mostWaiting: number;
}

interface Asker {
  atWork: number;
  /** The longest waiting first. */
  readonly line: (() => void)[];
}

/**
 * Nobody gets more than a share of what all use: further questions of the same asker wait in a
 * line of their own, and where that is full, are refused.
 */
export class Share {
  readonly #limits: ShareLimits;
  /** Only who has a question open. */
  readonly #askers = new Map<string, Asker>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const asker = this.#askers.get(name) ?? { atWork: 0, line: [] };
    this.#askers.set(name, asker);
    if (asker.atWork < this.#limits.mostAtOnce) asker.atWork++;
    else await this.#wait(asker);
    try {
      return await work();
    } finally {
      this.#leave(name, asker);
    }
  }

  #wait({ line }: Asker): Promise<void> {
    if (line.length >= this.#limits.mostWaiting)
      throw new Problem({
        code: "busy",
        message:
          "You ask for too many reports at once. Wait until some of them have come, and ask again.",
      });
    const { promise, resolve } = Promise.withResolvers<void>();
    line.push(resolve);
    return promise;
  }

  /** The place goes straight to the next in line, so that nobody who comes now takes it. */
  #leave(name: string, asker: Asker): void {
    const next = asker.line.shift();
    if (next !== undefined) return next();
    asker.atWork--;
    if (asker.atWork === 0) this.#askers.delete(name);
  }
}
