import type { PermitAsk, PermitGrant, PermitStore } from "../permit-store.ts";

/** Time that no wall clock moves, and what happens later; tests have their own. */
export interface Timing {
  /** Monotonic. */
  nowMs(): number;
  /** Calls it once. */
  after(delayMs: number, run: () => void): void;
}

export const systemTiming: Timing = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    if (delayMs === 0) setImmediate(run);
    else setTimeout(run, delayMs).unref();
  },
};

/** One limit of one owner, as far as this process has borrowed from it. */
export interface Borrowing {
  /** Whether requests wait for it. */
  readonly isWaiting: boolean;
  /** When it may ask for them. */
  readonly askMs: number;
  toAsk(nowMs: number): PermitAsk;
  receive(grant: PermitGrant, sentMs: number, nowMs: number): void;
  /** The store is away: whoever waits is rejected with this. */
  fail(error: unknown): void;
  /** Whether the store should hear of something now, although nobody waits; undefined: never. */
  isReportDue(nowMs: number): boolean | undefined;
}

/** How often what is unused or settled is reported, all owners together. */
export const reportEveryMs = 250;
/** How long a store that has failed is left alone. */
const restMs = 1_000;

/** The store failed a moment ago; it is not asked again yet. */
export class PermitsAwayError extends Error {
  override readonly name = "PermitsAwayError";
}

/**
 * Carries what the limits of all owners ask for to the store: one call at a time, with everything
 * that was asked for until it leaves. Without requests there are no calls. A store that fails is
 * asked again after a second; until then whoever has no permit in hand is rejected, never admitted.
 */
export class Borrower {
  readonly #store: PermitStore;
  readonly timing: Timing;
  readonly #due = new Set<Borrowing>();
  readonly #reporting = new Set<Borrowing>();
  #isSending = false;
  #wakeMs = Number.POSITIVE_INFINITY;
  #hasReportTimer = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(store: PermitStore, timing: Timing) {
    this.#store = store;
    this.timing = timing;
  }

  /** Asks the store with the next call, as soon as the borrowing may ask. */
  ask(borrowing: Borrowing): void {
    const nowMs = this.timing.nowMs();
    if (nowMs < this.#restUntilMs) {
      borrowing.fail(new PermitsAwayError("the limits cannot be checked"));
      return;
    }
    this.#due.add(borrowing);
    this.#wakeAt(Math.max(nowMs, borrowing.askMs), nowMs);
  }

  /** Nothing is asked or reported any more: what is held is freed with the epoch. */
  close(): void {
    this.#restUntilMs = Number.POSITIVE_INFINITY;
    this.#reporting.clear();
    for (const one of this.#due) one.fail(new PermitsAwayError("the limits are closed"));
    this.#due.clear();
  }

  /** Has the borrowing looked at now and then, until it has nothing to report. */
  follow(borrowing: Borrowing): void {
    if (this.#restUntilMs === Number.POSITIVE_INFINITY) return;
    this.#reporting.add(borrowing);
    if (this.#hasReportTimer) return;
    this.#hasReportTimer = true;
    this.timing.after(reportEveryMs, this.#report);
  }

  readonly #report = () => {
    const nowMs = this.timing.nowMs();
    this.#hasReportTimer = false;
    for (const borrowing of this.#reporting) {
      const isDue = borrowing.isReportDue(nowMs);
      if (isDue === undefined) this.#reporting.delete(borrowing);
      else if (isDue && nowMs >= this.#restUntilMs) this.#due.add(borrowing);
    }
    if (this.#due.size > 0) this.#wakeAt(nowMs, nowMs);
    if (this.#reporting.size === 0) return;
    this.#hasReportTimer = true;
    this.timing.after(reportEveryMs, this.#report);
  };

  #wakeAt(atMs: number, nowMs: number): void {
    if (this.#isSending || this.#wakeMs <= atMs) return;
    this.#wakeMs = atMs;
    this.timing.after(Math.max(0, atMs - nowMs), () => {
      // An earlier one has come in between.
      if (this.#wakeMs !== atMs || this.#isSending) return;
      this.#wakeMs = Number.POSITIVE_INFINITY;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    const sentMs = this.timing.nowMs();
    const sent: Borrowing[] = [];
    for (const one of this.#due) {
      const isSent = (one.isWaiting && one.askMs <= sentMs) || one.isReportDue(sentMs) === true;
      if (isSent) sent.push(one);
      // An answer to another call may have been enough for all who waited.
      if (isSent || !one.isWaiting) this.#due.delete(one);
    }
    if (sent.length === 0) {
      this.#wakeNext();
      return;
    }
    this.#isSending = true;
    try {
      const grants = await this.#store.borrow(sent.map((one) => one.toAsk(sentMs)));
      const nowMs = this.timing.nowMs();
      sent.forEach((one, at) => {
        const grant = grants[at];
        if (grant !== undefined) one.receive(grant, sentMs, nowMs);
      });
    } catch (error) {
      this.#restUntilMs = Math.max(this.#restUntilMs, this.timing.nowMs() + restMs);
      for (const one of new Set([...sent, ...this.#due])) one.fail(error);
      this.#due.clear();
    }
    this.#isSending = false;
    this.#wakeNext();
  }

  #wakeNext(): void {
    if (this.#due.size === 0) return;
    const nowMs = this.timing.nowMs();
    const nextMs = Math.min(...[...this.#due].map(({ askMs }) => askMs));
    this.#wakeAt(Math.max(nowMs, nextMs), nowMs);
  }
}

const askEveryMs = 250;
const burstMs = 7 * askEveryMs;

/** Keeps one limit of one owner to eight calls at once, and four per second for long. */
export class Pace {
  #usedMs = Number.NEGATIVE_INFINITY;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  get nextMs(): number {
    return Math.max(this.#usedMs - burstMs, this.#notBeforeMs);
  }

  /** The store had nothing: there is no use in asking at once. */
  rest(nowMs: number): void {
    this.#notBeforeMs = nowMs + askEveryMs;
  }

  count(nowMs: number): void {
    this.#usedMs = Math.max(this.#usedMs, nowMs) + askEveryMs;
  }
}
