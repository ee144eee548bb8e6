import { type Clock, monotonicMs } from "../base/clock.ts";

/**
 * The time of the database, as far as it is known: what it last said, and what has passed since then
 * by a clock that nobody sets. Until it has said something, the time of this machine.
 */
export class FleetClock implements Clock {
  readonly #elapsedMs: () => number;
  readonly #wallMs: () => number;
  /** What to add to the elapsed time. */
  #offsetMs: number;

  constructor(elapsedMs = monotonicMs, wallMs: () => number = Date.now) {
    this.#elapsedMs = elapsedMs;
    this.#wallMs = wallMs;
    this.#offsetMs = wallMs() - elapsedMs();
  }

  nowMs(): number {
    return this.#elapsedMs() + this.#offsetMs;
  }

  /** What the database said in answer to a question that was sent at this moment. */
  set(databaseMs: number, sentMs: number): void {
    const heardMs = this.#elapsedMs();
    this.#offsetMs = databaseMs - Math.round((sentMs + heardMs) / 2);
  }

  /** How far this machine's own clock is ahead; below zero: behind. */
  get wrongMs(): number {
    return this.#wallMs() - this.nowMs();
  }
}
