import { Gcra } from "../gcra.ts";
import type { SettledRate } from "../permit.ts";
import { type PermitAsk, type PermitGrant, permitLifeMs } from "../permit-store.ts";
import { type Borrower, type Borrowing, Pace } from "./borrower.ts";
import { type Borrowed, type Readiness, Waiters } from "./waiters.ts";

/** After this a block is replaced by a fresh one, as long as units are asked for; else it goes back. */
const renewMs = 500;
/** What was heard of a rate without room is checked again after this: others may have settled. */
const trustMs = 1_000;
/** For how long a block should last, at the pace at which units are asked for. */
const blockMs = 500;
const mostWaiting = 100_000;
/** The shortest time over which a pace is measured. */
const leastPaceMs = 100;

/**
 * A rate that several processes share. Units are borrowed in blocks. The store counts a unit in a
 * process's hand as used, but it does not leak before it is used, returned or expired: so that all
 * processes together never admit more than the one bucket does.
 */
export class BorrowedRate implements Borrowed, Borrowing, SettledRate {
  readonly kind: "requests" | "tokens";
  readonly #ownerId: string;
  readonly #borrower: Borrower;
  readonly #waiters = new Waiters();
  readonly #pace = new Pace();
  /** The level of the store as last heard of, without what is in hand here. */
  readonly #level: Gcra;
  #version: number;
  #knownMs = Number.NEGATIVE_INFINITY;
  #processes = 1;
  #hand = 0;
  #handSinceMs = 0;
  /** The limit has changed: what is in hand goes back before anything is taken from it. */
  #isOutdated = false;
  /** Of the hand, for requests that still wait for something else. */
  #reserved = 0;
  /** Granted for requests that were refused for something else. */
  #refunded = 0;
  #refundedSinceMs = 0;
  #settled = 0;
  #sentSettled = 0;
  #sentMs = 0;
  #demand = 0;
  #demandSinceMs: number;

  constructor(options: {
    readonly ownerId: string;
    readonly kind: "requests" | "tokens";
    readonly perMinute: number;
    readonly version: number;
    readonly borrower: Borrower;
  }) {
    this.#ownerId = options.ownerId;
    this.kind = options.kind;
    this.#level = new Gcra(options.perMinute);
    this.#version = options.version;
    this.#borrower = options.borrower;
    this.#demandSinceMs = options.borrower.timing.nowMs();
  }

  get limit(): number {
    return this.#level.perMinute;
  }

  get perMinute(): number {
    return this.#level.perMinute;
  }

  change(perMinute: number, version: number, nowMs: number): void {
    this.#version = version;
    if (perMinute === this.perMinute) return;
    this.#level.change(perMinute, nowMs);
    this.#isOutdated = true;
    this.#knownMs = Number.NEGATIVE_INFINITY;
  }

  check(cost: number, nowMs: number): Readiness {
    this.#demand += cost;
    this.#dropExpired(nowMs);
    if (this.#waiters.count === 0 && !this.#isOutdated && cost <= this.#hand) return "ready";
    const isCrowded = this.#waiters.count >= Math.min(this.perMinute, mostWaiting);
    if (cost > this.perMinute || isCrowded) return "refused";
    if (nowMs - this.#knownMs >= trustMs) return "ask";
    // No more wait for the next call than it is likely to bring something for.
    const sendMs = Math.max(nowMs, this.askMs);
    const wanted = this.#waiters.cost + cost;
    const share = Math.max(cost, (2 * this.#level.remaining(sendMs)) / this.#processes);
    return wanted > share || this.#level.waitMs(wanted, sendMs) > 0 ? "refused" : "ask";
  }

  reserve(cost: number, nowMs: number): void {
    this.#hand -= cost;
    this.#reserved += cost;
    this.#level.take(cost, nowMs);
  }

  ask(cost: number): Promise<boolean> {
    const answer = this.#waiters.add(cost);
    this.#borrower.ask(this);
    return answer;
  }

  confirm(cost: number): void {
    this.#reserved -= cost;
  }

  putBack(cost: number, nowMs: number): void {
    this.#reserved -= cost;
    this.#hand += cost;
    this.#level.adjust(-cost, nowMs);
    this.#borrower.follow(this);
  }

  /** It counts as used for the time that it was away: what had leaked of it is not given again. */
  refund(cost: number, nowMs: number): void {
    if (this.#refunded === 0) this.#refundedSinceMs = Math.min(nowMs, this.#sentMs);
    this.#refunded += cost;
    this.#level.adjust(-cost, nowMs);
    this.#borrower.follow(this);
  }

  /** Never before this process asks again: nobody is sent away to be refused unheard. */
  retryAfterMs(cost: number, nowMs: number): number {
    const promisedMs = this.#level.promise(cost, nowMs);
    return Math.max(promisedMs, Math.ceil(this.askMs - nowMs), 1);
  }

  waitMs(cost: number, nowMs: number): number {
    return this.#level.waitMs(cost, nowMs);
  }

  remaining(nowMs: number): number {
    return this.#level.remaining(nowMs);
  }

  resetMs(nowMs: number): number {
    return this.#level.resetMs(nowMs);
  }

  adjust(difference: number): void {
    if (difference === 0) return;
    this.#settled += difference;
    this.#level.adjust(difference, this.#borrower.timing.nowMs());
    this.#borrower.follow(this);
  }

  get isWaiting(): boolean {
    return this.#waiters.count > 0;
  }

  get askMs(): number {
    return this.#pace.nextMs;
  }

  toAsk(nowMs: number): PermitAsk {
    this.#dropExpired(nowMs);
    const needs = this.#waiters.send();
    const paceMs = Math.max(leastPaceMs, nowMs - this.#demandSinceMs);
    const extra = Math.floor((this.#demand * blockMs) / paceMs);
    const returned = this.#hand;
    this.#hand = 0;
    this.#demand = 0;
    this.#demandSinceMs = nowMs;
    this.#sentSettled = this.#settled - this.#refundAt(nowMs);
    this.#settled = 0;
    this.#refunded = 0;
    this.#sentMs = nowMs;
    if (needs.length > 0) this.#pace.count(nowMs);
    return {
      ownerId: this.#ownerId,
      kind: this.kind,
      limit: this.perMinute,
      version: this.#version,
      returned,
      kept: this.#reserved,
      settled: this.#sentSettled,
      needs,
      extra,
    };
  }

  receive({ granted, used, processes }: PermitGrant, sentMs: number, nowMs: number): void {
    this.#processes = processes;
    this.#knownMs = nowMs;
    this.#isOutdated = false;
    // Units may have been put back meanwhile; they were kept, and are not in the grant.
    this.#hand += granted;
    this.#handSinceMs = sentMs;
    this.#level.assume(used - this.#hand, nowMs);
    this.#level.adjust(this.#settled - this.#refunded, nowMs);
    const isShort = this.#waiters.serve((cost) => {
      if (cost > this.#hand) return false;
      this.#hand -= cost;
      this.#level.take(cost, nowMs);
      return true;
    });
    if (isShort) this.#pace.rest(nowMs);
    if (this.#waiters.count > 0) this.#borrower.ask(this);
    if (this.isReportDue(nowMs) !== undefined) this.#borrower.follow(this);
  }

  fail(error: unknown): void {
    // Whether the call was carried out is not known: a debt is told again, a credit is not.
    if (this.#sentSettled > 0) this.#settled += this.#sentSettled;
    this.#sentSettled = 0;
    if (this.#settled !== 0) this.#borrower.follow(this);
    this.#waiters.fail(error);
  }

  isReportDue(nowMs: number): boolean | undefined {
    this.#dropExpired(nowMs);
    if (this.#settled !== 0 || this.#refunded > 0) return true;
    return this.#hand === 0 ? undefined : nowMs - this.#handSinceMs >= renewMs;
  }

  #refundAt(nowMs: number): number {
    const leaked = ((nowMs - this.#refundedSinceMs) * this.perMinute) / 60_000;
    return Math.max(0, this.#refunded - leaked);
  }

  /** The store has counted them as used. */
  #dropExpired(nowMs: number): void {
    if (this.#hand === 0 || nowMs - this.#handSinceMs < permitLifeMs) return;
    this.#level.take(this.#hand, nowMs);
    this.#hand = 0;
  }
}
