import type { Place } from "../permit.ts";
import type { PermitAsk, PermitGrant } from "../permit-store.ts";
import { Turns } from "../refusal.ts";
import { type Borrower, type Borrowing, Pace } from "./borrower.ts";
import { type Borrowed, type Readiness, Waiters } from "./waiters.ts";

/** Places that were not needed for so long go back, where there are plenty. */
const idleMs = 500;

/**
 * Places among the running requests that several processes share. A process tells the store how
 * many run, never how many came or went: an answer that was lost is made good by the next report.
 */
export class BorrowedSlots implements Borrowed, Borrowing, Place {
  readonly kind = "concurrency";
  readonly #ownerId: string;
  readonly #borrower: Borrower;
  readonly #waiters = new Waiters();
  readonly #pace = new Pace();
  readonly #turns = new Turns();
  #limit: number | undefined;
  #version: number;
  /** Counted also without a limit, so that it is right when a limit comes. */
  #running = 0;
  /** What the store knows to be this process's; may be less than what runs without a limit. */
  #held = 0;
  #sentRunning = 0;
  /** Few places are free: what ends here is wanted elsewhere. */
  #isScarce = false;
  /** The store may count more than this process has. */
  #isUnsure = false;
  /** Who waits has been refused by the store once: a place may just be on its way back. */
  #hasTried = false;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #peak = 0;
  #peakSinceMs = 0;

  constructor(options: {
    readonly ownerId: string;
    readonly limit: number | undefined;
    readonly version: number;
    readonly borrower: Borrower;
  }) {
    this.#ownerId = options.ownerId;
    this.#limit = options.limit;
    this.#version = options.version;
    this.#borrower = options.borrower;
  }

  get limit(): number {
    return this.#limit ?? Number.MAX_SAFE_INTEGER;
  }

  change(limit: number | undefined, version: number): void {
    this.#version = version;
    if (limit === this.#limit) return;
    this.#limit = limit;
    // Under another limit the store decides again about every place that is not in use, and hears
    // of those that are. Without one it counts none: they are told again when one comes.
    this.#held = Math.min(this.#held, this.#running);
    this.#refusedUntilMs = Number.NEGATIVE_INFINITY;
    this.#isUnsure = true;
    this.#borrower.follow(this);
  }

  check(cost: number, nowMs: number): Readiness {
    if (this.#limit === undefined) return "ready";
    if (this.#running + this.#waiters.count + cost > this.#limit) return "refused";
    if (this.#waiters.count === 0 && this.#running + cost <= this.#held) return "ready";
    return nowMs < this.#refusedUntilMs ? "refused" : "ask";
  }

  reserve(cost: number): void {
    this.#running += cost;
    this.#peak = Math.max(this.#peak, this.#running);
  }

  ask(cost: number): Promise<boolean> {
    const answer = this.#waiters.add(cost);
    this.#borrower.ask(this);
    return answer;
  }

  confirm(): void {}

  putBack(cost: number): void {
    for (let place = 0; place < cost; place++) this.leave();
  }

  refund(cost: number): void {
    this.putBack(cost);
  }

  leave(): void {
    this.#running--;
    if (this.#limit === undefined || this.#running >= this.#held) return;
    if (this.#waiters.count > 0) {
      this.#grantFirst();
      return;
    }
    this.#borrower.follow(this);
    const nowMs = this.#borrower.timing.nowMs();
    if (this.#isScarce && this.askMs <= nowMs) this.#borrower.ask(this);
  }

  retryAfterMs(_cost: number, nowMs: number): number {
    return this.#turns.promise(nowMs);
  }

  get isWaiting(): boolean {
    return this.#waiters.count > 0;
  }

  get askMs(): number {
    return this.#pace.nextMs;
  }

  toAsk(nowMs: number): PermitAsk {
    const needs = this.#waiters.send();
    this.#pace.count(nowMs);
    this.#sentRunning = this.#limit === undefined ? 0 : this.#running;
    this.#held = Math.min(this.#held, this.#running);
    this.#peak = this.#running;
    this.#peakSinceMs = nowMs;
    return {
      ownerId: this.#ownerId,
      kind: this.kind,
      limit: this.limit,
      version: this.#version,
      returned: 0,
      kept: this.#sentRunning,
      settled: 0,
      needs,
      extra: needs.length === 0 ? 0 : Math.ceil(this.#running / 4),
    };
  }

  receive({ granted, free }: PermitGrant, _sentMs: number, nowMs: number): void {
    this.#held = this.#sentRunning + granted;
    this.#isScarce = free < this.limit / 2;
    this.#isUnsure = false;
    this.#serve(nowMs);
    if (this.#waiters.count > 0) this.#borrower.ask(this);
    if (this.#held > this.#running) this.#borrower.follow(this);
  }

  fail(error: unknown): void {
    this.#isUnsure = true;
    this.#hasTried = false;
    this.#borrower.follow(this);
    this.#waiters.fail(error);
  }

  isReportDue(nowMs: number): boolean | undefined {
    if (this.#isUnsure) return true;
    if (this.#limit === undefined || this.#held <= this.#running) return undefined;
    if (this.#isScarce) return true;
    if (this.#peak < this.#held) return nowMs - this.#peakSinceMs >= idleMs;
    this.#peak = this.#running;
    this.#peakSinceMs = nowMs;
    return false;
  }

  #serve(nowMs: number): void {
    const room = this.#held - this.#running;
    if (this.#waiters.sentCount > room && !this.#hasTried) {
      // Another process may have finished a call a moment ago: a caller who sends one call after
      // another, to any process, is not refused for that.
      for (let place = 0; place < room; place++) this.#grantFirst();
      this.#hasTried = true;
      this.#pace.rest(nowMs);
      return;
    }
    const isShort = this.#waiters.serve(() => {
      if (this.#running >= this.#held) return false;
      this.reserve(1);
      return true;
    });
    this.#hasTried = false;
    if (isShort) {
      this.#pace.rest(nowMs);
      this.#refusedUntilMs = this.askMs;
    }
  }

  #grantFirst(): void {
    this.reserve(1);
    this.#waiters.grantFirst();
  }
}
