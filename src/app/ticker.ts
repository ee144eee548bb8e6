import type { Log } from "../base/log.ts";

export interface TickerOptions {
  readonly work: () => Promise<void>;
  /** For the log, such as `follow changes`. */
  readonly what: string;
  readonly log: Log;
  readonly everyMs?: number;
  /** For the first time right away. */
  readonly isAtOnce?: boolean;
}

/** What another process changes is in effect here within a second. */
const usualMs = 250;

/** Does something again and again, one at a time. A failure is logged once, until it works again. */
export class Ticker {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #options: TickerOptions;
  #running: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: TickerOptions) {
    this.#options = options;
    const tick = () => {
      this.#running ??= this.#tick().finally(() => (this.#running = undefined));
    };
    this.#timer = setInterval(tick, options.everyMs ?? usualMs);
    this.#timer.unref();
    if (options.isAtOnce === true) tick();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #tick(): Promise<void> {
    const { work, what, log } = this.#options;
    try {
      await work();
      if (this.#isFailing) log.info(`can ${what} again`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn(`cannot ${what}`, { detail: String(error) });
      this.#isFailing = true;
    }
  }
}
