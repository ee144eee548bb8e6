import type { Clock } from "../../base/clock.ts";

const mostRuns = 200;
/** A test takes a minute or two, with vendors that hang. */
const longestMs = 15 * 60_000;

/** The tests of providers that are running: each is several requests. */
export class TestRuns {
  readonly #clock: Clock;
  /** When each began, the oldest first. */
  readonly #startedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this is the first step of it. */
  isNew(run: string): boolean {
    const nowMs = this.#clock.nowMs();
    const startedMs = this.#startedMs.get(run);
    if (startedMs !== undefined && nowMs - startedMs < longestMs) return false;
    this.#startedMs.delete(run);
    const [oldest] = this.#startedMs.keys();
    if (this.#startedMs.size >= mostRuns && oldest !== undefined) this.#startedMs.delete(oldest);
    this.#startedMs.set(run, nowMs);
    return true;
  }
}
