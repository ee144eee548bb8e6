/**
 * GCRA as a leaking level: what was used leaks out at `perMinute` a minute, and a cost is admitted
 * when it fits on top of the level. So T seconds admit at most perMinute × (1 + T/60).
 *
 * The level is kept in units and the time beside it. The usual single number, the moment at which
 * all is free again, has steps of 0.0002 ms in a double, and a token may be worth less than that.
 */
export class Gcra {
  #perMinute: number;
  #perMs: number;
  /** The level at `#atMs`; above `#perMinute` it is a debt. */
  #used = 0;
  #atMs = 0;
  /** The last slot that a refused caller was given. */
  #promisedMs = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#perMs = perMinute / minuteMs;
  }

  get perMinute(): number {
    return this.#perMinute;
  }

  /**
   * What was used stays used, so that a new limit is no fresh burst. A lower limit is at most used
   * up by it: nobody waits for many minutes because he once was allowed more. A debt stays a debt.
   */
  change(perMinute: number, nowMs: number): void {
    this.#leak(nowMs);
    const debt = Math.max(0, this.#used - this.#perMinute);
    this.#used = Math.min(this.#used, perMinute + debt);
    this.#perMinute = perMinute;
    this.#perMs = perMinute / minuteMs;
    this.#promisedMs = 0;
  }

  /** 0: admitted now. Infinity: never possible. Takes nothing. */
  waitMs(cost: number, nowMs: number): number {
    if (cost > this.#perMinute) return Number.POSITIVE_INFINITY;
    const excess = this.#used + cost - this.#perMinute;
    if (excess <= 0) return 0;
    const waitMs = excess / this.#perMs - this.#elapsedMs(nowMs);
    return waitMs > toleranceMs ? waitMs : 0;
  }

  take(cost: number, nowMs: number): void {
    this.#leak(nowMs);
    this.#used += cost;
  }

  /** Settles what was taken to the truth; the difference is truth − taken. */
  adjust(difference: number, nowMs: number): void {
    this.#leak(nowMs);
    this.#used = Math.max(0, this.#used + difference);
  }

  /** Another bucket is the true one: this is its level now. */
  assume(used: number, nowMs: number): void {
    this.#used = Math.max(0, used);
    this.#atMs = nowMs;
  }

  /**
   * For a refused caller: whole milliseconds until the next free slot, spread over the callers who
   * were refused lately so that they do not return together. The spread is at most `maxSpreadMs`,
   * then it starts again at the first free slot: callers who have gone must not push it out.
   * Reserves nothing. A caller who obeys and has the slot alone is admitted.
   */
  promise(cost: number, nowMs: number): number {
    const waitMs = this.waitMs(cost, nowMs);
    if (waitMs === Number.POSITIVE_INFINITY) return waitMs;
    const earliestMs = nowMs + waitMs;
    const slotMs = cost / this.#perMs;
    const nextMs = this.#promisedMs + (slotMs > maxSpreadMs ? longSlotStepMs : slotMs);
    // Slots that have passed were used or missed: they say nothing about those to come.
    const isSpread =
      this.#promisedMs > nowMs &&
      nextMs > earliestMs &&
      nextMs <= earliestMs + maxSpreadMs + toleranceMs;
    this.#promisedMs = isSpread ? nextMs : earliestMs;
    return toWholeMs(this.#promisedMs - nowMs);
  }

  /** Whole units that would be admitted now. */
  remaining(nowMs: number): number {
    const free = this.#perMinute - this.#levelAt(nowMs);
    const whole = Math.floor(free + Math.min(toleranceMs * this.#perMs, toleranceUnits));
    return Math.max(0, whole);
  }

  /** Whole milliseconds until the full burst is there again. */
  resetMs(nowMs: number): number {
    return this.#perMs === 0 ? 0 : toWholeMs(this.#levelAt(nowMs) / this.#perMs);
  }

  #levelAt(nowMs: number): number {
    return Math.max(0, this.#used - Math.max(0, this.#elapsedMs(nowMs)) * this.#perMs);
  }

  /**
   * Moments may come a little out of order: time that has leaked once does not leak again. A clock
   * that was set back by more goes on from where it is now.
   */
  #elapsedMs(nowMs: number): number {
    const elapsedMs = nowMs - this.#atMs;
    return elapsedMs < -maxDisorderMs ? 0 : elapsedMs;
  }

  #leak(nowMs: number): void {
    this.#used = this.#levelAt(nowMs);
    if (nowMs > this.#atMs || nowMs < this.#atMs - maxDisorderMs) this.#atMs = nowMs;
  }
}

const minuteMs = 60_000;
/** How far past the first free slot a refused caller may be sent. */
const maxSpreadMs = 10_000;
/** How far apart callers are sent where a single slot takes longer than the whole spread. */
const longSlotStepMs = 1_000;
const maxDisorderMs = minuteMs;

/** Covers the rounding of doubles: who was told to wait so long is not refused for less than this. */
const toleranceMs = 0.001;
/** The same where many units go into that time: what is left is told to the unit. */
const toleranceUnits = 0.01;

/** Rounds up, but not for the rounding of doubles; stays well within the tolerance. */
function toWholeMs(ms: number): number {
  return Math.max(0, Math.ceil(ms - toleranceMs / 2));
}
