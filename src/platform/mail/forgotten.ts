import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/problem.ts";
import { Throttle } from "../../people/throttle.ts";

const minuteMs = 60_000;
/** Whoever asks; the reply says so, since it depends on no address. */
const networkLimit = { burst: 10, everyMs: 2 * minuteMs };
/** For one address, from wherever: each message also ends the link before it. */
const addressLimit = { burst: 3, everyMs: 20 * minuteMs };
const mostPending = 50;

/**
 * Requests of people who are not signed in for a link to their mailbox. Every request gets the same
 * answer at the same time, before anything is looked up: it shows nothing about who has an account.
 */
export class Forgotten {
  readonly #clock: Clock;
  readonly #networks = new Throttle(networkLimit);
  readonly #addresses = new Throttle(addressLimit);
  #pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns at once. What `work` finds out, or how long it takes, is not seen by the caller. */
  ask(of: { readonly email: string; readonly network: string }, work: () => Promise<void>): void {
    const nowMs = this.#clock.nowMs();
    const waitMs = this.#networks.waitMs(of.network, nowMs);
    if (waitMs > 0) {
      const minutes = Math.ceil(waitMs / minuteMs);
      throw new Problem({
        code: "busy",
        message: `Too many password resets from your network. Try again in ${minutes === 1 ? "1 minute" : `${minutes} minutes`}.`,
      });
    }
    this.#networks.count(of.network, nowMs);
    if (this.#addresses.waitMs(of.email, nowMs) > 0) return;
    this.#addresses.count(of.email, nowMs);
    if (this.#pending >= mostPending) return;
    this.#pending++;
    // After the reply. The store and the mail server report their own failures.
    setImmediate(() => void work().then(this.#end, this.#end));
  }

  readonly #end = () => {
    this.#pending--;
  };
}
