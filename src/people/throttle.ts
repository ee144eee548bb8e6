/** How often something may fail: at once, and then once every so often. */
export interface ThrottleLimit {
  readonly burst: number;
  readonly everyMs: number;
}

/** What is remembered at most; the longest unseen is forgotten first. */
const mostNames = 10_000;

/** Counts failures by name, and says how long one has to wait before the next try. */
export class Throttle {
  readonly #limit: ThrottleLimit;
  /** When all failures of a name will be forgotten. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(limit: ThrottleLimit) {
    this.#limit = limit;
  }

  /** Zero when a try is let through. */
  waitMs(name: string, nowMs: number): number {
    const { burst, everyMs } = this.#limit;
    const fullAtMs = this.#fullAtMs.get(name) ?? nowMs;
    return Math.max(0, fullAtMs - nowMs - (burst - 1) * everyMs);
  }

  /** Said before a try is looked at, so that many at once count each. */
  count(name: string, nowMs: number): void {
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? nowMs, nowMs) + this.#limit.everyMs;
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, fullAtMs);
    if (this.#fullAtMs.size <= mostNames) return;
    const oldest = this.#fullAtMs.keys().next();
    if (oldest.done !== true) this.#fullAtMs.delete(oldest.value);
  }

  forget(name: string): void {
    this.#fullAtMs.delete(name);
  }
}
