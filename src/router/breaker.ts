import type { ApiError, UpstreamReason } from "../base/errors.ts";
import type { TargetHealth } from "../catalog/health.ts";

/** Recent is what happened in this bucket and the one before. */
const bucketMs = 5_000;
/** Opens when at least so many recent requests came to their end, and half of them badly. */
const leastRequests = 10;
const worstShare = 0.5;
/** Or when so many fail one after another, none long after the one before. */
const mostInARow = 5;
const rowWithinMs = 30_000;
const pausesMs = {
  failing: { first: 5_000, most: 60_000 },
  refused: { first: 30_000, most: 600_000 },
};
/** A target that asks for more is taken at its word no longer than this. */
const longestRestMs = 300_000;
const restUnknownMs = 1_000;
/** Asked again for the same call: a fifth of the recent requests, and a few where there are few. */
const repeatShare = 0.2;
const fewRepeats = 3;

export interface BreakerOptions {
  readonly provider: string;
  readonly model: string;
  readonly isEnabled: boolean;
  /** It was taken out of service, or put back. */
  readonly onChange: (health: TargetHealth) => void;
}

/** A call that came to a bad end. */
interface FailedCall {
  readonly nowMs: number;
  readonly trial: number;
  /** It broke off in mid-answer: as a request it was counted when it began. */
  readonly hasBegun: boolean;
}

/**
 * What is known of one target. Closed: it is asked. Open: it failed too often, or cannot work (its
 * key, its credit), and is left out for a while; then one call is its trial (half-open), which
 * closes it or opens it for twice as long. Resting: it asked to be left alone, and is.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #bucketStartMs = 0;
  #requests = 0;
  #failures = 0;
  #repeats = 0;
  #requestsBefore = 0;
  #failuresBefore = 0;
  #repeatsBefore = 0;
  #inARow = 0;
  #failedMs = 0;
  #restUntilMs = 0;
  #openSinceMs = 0;
  #openUntilMs = 0;
  #openings = 0;
  /** The trial under way, and how many there were; 0: none. */
  #trial = 0;
  #trials = 0;
  /** What opened it. */
  failure: ApiError | undefined;
  /** How it asked to be left alone. */
  plea: ApiError | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Nothing is held against it; the way of nearly every request. */
  get isClear(): boolean {
    return this.#openUntilMs === 0 && this.#restUntilMs === 0;
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== 0;
  }

  mayAsk(nowMs: number): boolean {
    if (this.restMs(nowMs) > 0) return false;
    return this.#openUntilMs === 0 || (nowMs >= this.#openUntilMs && this.#trial === 0);
  }

  /** How long it still wants to be left alone. */
  restMs(nowMs: number): number {
    if (this.#restUntilMs === 0) return 0;
    if (nowMs < this.#restUntilMs) return this.#restUntilMs - nowMs;
    this.#restUntilMs = 0;
    return 0;
  }

  /** How long until it is tried again. */
  openMs(nowMs: number): number {
    return Math.max(0, this.#openUntilMs - nowMs);
  }

  /** A call is made; gives the number of the trial that it is, 0 where it is none. */
  begin(): number {
    if (this.#openUntilMs === 0) return 0;
    this.#trials++;
    this.#trial = this.#trials;
    return this.#trial;
  }

  /** The caller left before anything was known. */
  abandon(trial: number): void {
    this.#endTrial(trial);
  }

  /** Whether a call that failed here may be made here once more, so that nobody storms a dying server. */
  mayRepeat(nowMs: number): boolean {
    this.#turn(nowMs);
    const requests = this.#requests + this.#requestsBefore;
    const repeats = this.#repeats + this.#repeatsBefore;
    return repeats < Math.max(fewRepeats, requests * repeatShare);
  }

  repeat(): void {
    this.#repeats++;
  }

  succeed(nowMs: number, trial: number): void {
    this.#turn(nowMs);
    this.#requests++;
    this.#inARow = 0;
    if (this.#endTrial(trial)) this.close(nowMs);
  }

  fail(error: ApiError, { nowMs, trial, hasBegun }: FailedCall): void {
    const { reason = "failed", delayMs } = error.upstream ?? {};
    const isTrial = this.#endTrial(trial);
    this.#turn(nowMs);
    if (!hasBegun) this.#requests++;
    const asksForRest = reason === "limited" || (reason === "overloaded" && delayMs !== undefined);
    if (asksForRest && this.#options.isEnabled) {
      this.#restUntilMs = nowMs + Math.min(longestRestMs, delayMs ?? restUnknownMs);
      this.plea = error;
    }
    // One that says when to come back is well.
    if (reason === "limited") return;
    this.#failures++;
    this.#inARow = nowMs - this.#failedMs > rowWithinMs ? 1 : this.#inARow + 1;
    this.#failedMs = nowMs;
    if (!this.#options.isEnabled) return;
    // Calls that were under way when it opened say nothing new; only the trial does.
    if (this.#openUntilMs !== 0 && !isTrial) return;
    const cannotWork = reason === "auth" || reason === "quota";
    if (cannotWork || isTrial || this.#isFailing()) this.#open(error, reason, nowMs);
  }

  /** By a success, or by hand. */
  close(nowMs: number): void {
    const wasOpen = this.#openUntilMs !== 0;
    this.#openUntilMs = 0;
    this.#restUntilMs = 0;
    this.#openings = 0;
    this.#trial = 0;
    this.#inARow = 0;
    this.#requests = 0;
    this.#failures = 0;
    this.#repeats = 0;
    this.#requestsBefore = 0;
    this.#failuresBefore = 0;
    this.#repeatsBefore = 0;
    this.failure = undefined;
    this.plea = undefined;
    if (wasOpen) this.#options.onChange(this.view(nowMs));
  }

  view(nowMs: number): TargetHealth {
    this.#turn(nowMs);
    const { provider, model } = this.#options;
    const restMs = this.restMs(nowMs);
    const isOpen = this.#openUntilMs !== 0;
    const isDue = isOpen && nowMs >= this.#openUntilMs;
    const until = isOpen ? this.#openUntilMs : restMs > 0 ? this.#restUntilMs : null;
    return {
      provider,
      model,
      state: isDue ? "half-open" : isOpen ? "open" : restMs > 0 ? "resting" : "closed",
      reason: isOpen ? reasonOf(this.failure) : restMs > 0 ? reasonOf(this.plea) : null,
      sinceMs: isOpen ? this.#openSinceMs : null,
      untilMs: until,
      requests: this.#requests + this.#requestsBefore,
      failures: this.#failures + this.#failuresBefore,
    };
  }

  /** Whether it was the trial under way; its place is free again. */
  #endTrial(trial: number): boolean {
    if (trial === 0 || trial !== this.#trial) return false;
    this.#trial = 0;
    return true;
  }

  #isFailing(): boolean {
    if (this.#inARow >= mostInARow) return true;
    const requests = this.#requests + this.#requestsBefore;
    const failures = this.#failures + this.#failuresBefore;
    return requests >= leastRequests && failures >= requests * worstShare;
  }

  #open(error: ApiError, reason: UpstreamReason, nowMs: number): void {
    const { first, most } =
      pausesMs[reason === "auth" || reason === "quota" ? "refused" : "failing"];
    if (this.#openUntilMs === 0) this.#openSinceMs = nowMs;
    const pauseMs = Math.min(most, first * 2 ** Math.min(10, this.#openings));
    this.#openUntilMs = nowMs + Math.max(pauseMs, Math.min(most, error.upstream?.delayMs ?? 0));
    this.#openings++;
    this.failure = error;
    this.#options.onChange(this.view(nowMs));
  }

  #turn(nowMs: number): void {
    const ageMs = nowMs - this.#bucketStartMs;
    if (ageMs < bucketMs) return;
    const isNext = ageMs < 2 * bucketMs;
    this.#requestsBefore = isNext ? this.#requests : 0;
    this.#failuresBefore = isNext ? this.#failures : 0;
    this.#repeatsBefore = isNext ? this.#repeats : 0;
    this.#requests = 0;
    this.#failures = 0;
    this.#repeats = 0;
    this.#bucketStartMs = isNext ? this.#bucketStartMs + bucketMs : nowMs;
  }
}

const reasonOf = (error: ApiError | undefined): UpstreamReason =>
  error?.upstream?.reason ?? "failed";
