import type { FeedFollower } from "../base/feed.ts";
import type { Log } from "../base/log.ts";

/** What another process changes is in effect here within a second. */
const everyMs = 250;

/** Follows the changes of other processes. One look at a time; a failing one is logged once. */
export class FeedTicker {
  readonly #timer: ReturnType<typeof setInterval>;
  #running: Promise<void> | undefined;
  #isFailing = false;

  constructor(follower: Pick<FeedFollower, "catchUp">, log: Log) {
    this.#timer = setInterval(() => {
      this.#running ??= this.#look(follower, log).finally(() => (this.#running = undefined));
    }, everyMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #look(follower: Pick<FeedFollower, "catchUp">, log: Log): Promise<void> {
    try {
      await follower.catchUp();
      if (this.#isFailing) log.info("following changes again");
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn("cannot read changes", { detail: String(error) });
      this.#isFailing = true;
    }
  }
}
