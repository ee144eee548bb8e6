import type { ApiError, UpstreamReason } from "../base/errors.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { FailureCount } from "./failure-count.ts";
import { Suspect } from "./suspect.ts";

/** Recent is what happened in this bucket and the one before. */
const bucketMs = 5_000;
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
/** A probe costs the operator money: one account that fails on and on does not cause more. */
const probePauseMs = 60_000;
/** Where two accounts are told that the key or the credit is to blame, it is looked into sooner. */
const sharedProbePauseMs = 10_000;

/** What came of a probe: the failure, or undefined where the target works. */
export interface Probed {
  readonly error: ApiError | undefined;
  readonly nowMs: number;
}

export interface BreakerOptions {
  readonly provider: string;
  readonly model: string;
  /** The key of the provider, where it has several. */
  readonly key: string | undefined;
  readonly isEnabled: boolean;
  /** It served its first call, or the first since it was taken out of service. */
  readonly onServed?: (() => void) | undefined;
  /** A call or a probe failed because of the key. */
  readonly onKeyRejected?: (() => void) | undefined;
  /** It was taken out of service, or put back. */
  readonly onChange: (health: TargetHealth) => void;
  /** Calls the target for the operator, within a bounded time; without it, one account's failures count. */
  readonly probe?: (() => Promise<Probed>) | undefined;
}

/** A call that came to a bad end. */
interface FailedCall {
  readonly accountId: string;
  readonly nowMs: number;
  readonly trial: number;
  /** It broke off in mid-answer: as a request it was counted when it began. */
  readonly hasBegun: boolean;
}

/**
 * What is known of one target. Closed: it is asked. Open: it failed too often, or cannot work (its
 * key, its credit), and is left out for a while; then one call is its trial (half-open), which
 * closes it or opens it for twice as long. Resting: it asked to be left alone, and is.
 *
 * Failures that a caller's input can cause (5xx replies, broken replies, streams that break off, a
 * 401, 402 or 403 that gives no reason) open it only when two accounts have them. Where one account
 * has them and no other was served meanwhile, a probe decides; until it ends, the target stays as it
 * is. Words that blame the key or the credit ask for a probe at once: some vendors say them about a
 * prompt.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #bucketStartMs = 0;
  #requests = 0;
  #repeats = 0;
  #suspectRepeats = 0;
  #requestsBefore = 0;
  #repeatsBefore = 0;
  #suspectRepeatsBefore = 0;
  readonly #failures = new FailureCount();
  /** Those that no input causes: no connection, no answer in time. */
  readonly #firmFailures = new FailureCount();
  readonly #suspect = new Suspect();
  /** The probe in flight. */
  #probe: object | undefined;
  #probedMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #openSinceMs = 0;
  #openUntilMs = 0;
  #openings = 0;
  /** The trial under way, and how many there were; 0: none. */
  #trial = 0;
  #trials = 0;
  #hasServed = false;
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

  /**
   * Whether a call that failed here may be made here once more, so that nobody storms a dying
   * server. What one account's failures use up is not taken from the others: half of it is theirs.
   */
  mayRepeat(nowMs: number, accountId: string): boolean {
    this.#turn(nowMs);
    const requests = this.#requests + this.#requestsBefore;
    const repeats = this.#repeats + this.#repeatsBefore;
    if (repeats < Math.max(fewRepeats, requests * repeatShare)) return true;
    if (this.#suspect.is(accountId)) return false;
    const others = repeats - this.#suspectRepeats - this.#suspectRepeatsBefore;
    return others < Math.max(fewRepeats, (requests * repeatShare) / 2);
  }

  repeat(accountId: string): void {
    this.#repeats++;
    if (this.#suspect.is(accountId)) this.#suspectRepeats++;
  }

  succeed(accountId: string, nowMs: number, trial: number): void {
    this.#turn(nowMs);
    this.#requests++;
    this.#failures.endRow();
    this.#firmFailures.endRow();
    this.#suspect.succeed(accountId, nowMs);
    if (!this.#hasServed) this.#serveFirst();
    if (this.#endTrial(trial)) this.close(nowMs);
  }

  fail(error: ApiError, { accountId, nowMs, trial, hasBegun }: FailedCall): void {
    const { reason = "failed", delayMs, isReply = false } = error.upstream ?? {};
    if (reason === "auth") this.#options.onKeyRejected?.();
    const isTrial = this.#endTrial(trial);
    this.#turn(nowMs);
    if (!hasBegun) this.#requests++;
    const isFirm = !mayBeInput(error, hasBegun);
    if (!isFirm) this.#suspect.fail(accountId, nowMs);
    // One account's inputs must not put it to rest for others that it serves.
    const isOverloaded = reason === "overloaded" && delayMs !== undefined;
    const isForAll = !this.#suspect.servesOthers(nowMs) || this.#suspect.isShared(nowMs);
    // A request that is over a limit by itself says nothing about smaller ones.
    const isLimited = reason === "limited" && !isReply;
    const asksForRest = isLimited || (isOverloaded && isForAll);
    if (asksForRest && this.#options.isEnabled) {
      this.#restUntilMs = nowMs + Math.min(longestRestMs, delayMs ?? restUnknownMs);
      this.plea = error;
    }
    // One that says when to come back is well.
    if (reason === "limited") return;
    this.#failures.add(nowMs);
    if (isFirm) this.#firmFailures.add(nowMs);
    if (!this.#options.isEnabled) return;
    // Calls that were under way when it opened say nothing new; only the trial does.
    if (this.#openUntilMs !== 0 && !isTrial) return;
    const requests = this.#requests + this.#requestsBefore;
    if ((isTrial && isFirm) || this.#firmFailures.isTooHigh(requests)) this.#open(error, nowMs);
    // Whoever comes first is the trial: also an account that fails everywhere.
    else if (isTrial) this.#askProbe(error, { isTrial, nowMs, pauseMs: 0 });
    else if (isOperators(reason) && !isReply) this.#confirm(error, nowMs);
    else if (this.#failures.isTooHigh(requests)) this.#judge(error, nowMs);
  }

  #serveFirst(): void {
    this.#hasServed = true;
    this.#options.onServed?.();
  }

  /** Reports the next success again. */
  forgetServed(): void {
    this.#hasServed = false;
  }

  /** Its provider or key was changed: nothing is known of it any more. */
  forget(nowMs: number): void {
    this.forgetServed();
    this.close(nowMs);
  }

  /** By a success, or by hand. */
  close(nowMs: number): void {
    const wasOpen = this.#openUntilMs !== 0;
    this.#openUntilMs = 0;
    this.#restUntilMs = 0;
    this.#openings = 0;
    this.#trial = 0;
    this.#probe = undefined;
    this.#probedMs = Number.NEGATIVE_INFINITY;
    this.#suspect.clear();
    this.#requests = 0;
    this.#repeats = 0;
    this.#suspectRepeats = 0;
    this.#requestsBefore = 0;
    this.#repeatsBefore = 0;
    this.#suspectRepeatsBefore = 0;
    this.#failures.clear();
    this.#firmFailures.clear();
    this.failure = undefined;
    this.plea = undefined;
    if (wasOpen) this.#options.onChange(this.view(nowMs));
  }

  view(nowMs: number): TargetHealth {
    this.#turn(nowMs);
    const { provider, model, key = null } = this.#options;
    const restMs = this.restMs(nowMs);
    const isOpen = this.#openUntilMs !== 0;
    const isDue = isOpen && nowMs >= this.#openUntilMs;
    const until = isOpen ? this.#openUntilMs : restMs > 0 ? this.#restUntilMs : null;
    return {
      provider,
      model,
      key,
      state: isDue ? "half-open" : isOpen ? "open" : restMs > 0 ? "resting" : "closed",
      reason: isOpen ? reasonOf(this.failure) : restMs > 0 ? reasonOf(this.plea) : null,
      sinceMs: isOpen ? this.#openSinceMs : null,
      untilMs: until,
      requests: this.#requests + this.#requestsBefore,
      failures: this.#failures.total,
      hasServed: this.#hasServed,
    };
  }

  /** Whether it was the trial under way; its place is free again. */
  #endTrial(trial: number): boolean {
    if (trial === 0 || trial !== this.#trial) return false;
    this.#trial = 0;
    return true;
  }

  /** There are too many failures, of a kind that an input can cause. */
  #judge(error: ApiError, nowMs: number): void {
    const reason = reasonOf(error);
    // Two accounts can send the same prompt: what is the operator's to mend, a probe sees as well.
    if (isOperators(reason) || reason === "missing") return this.#confirm(error, nowMs);
    if (this.#suspect.isShared(nowMs)) this.#open(error, nowMs);
    else if (!this.#suspect.isRefuted(nowMs))
      this.#askProbe(error, { isTrial: false, nowMs, pauseMs: probePauseMs });
  }

  /** Its words blame the key or the credit. Nobody else is refused until a probe has failed too. */
  #confirm(error: ApiError, nowMs: number): void {
    const isShared = this.#suspect.isShared(nowMs);
    if (!isShared && this.#suspect.isRefuted(nowMs)) return;
    const pauseMs = isShared ? sharedProbePauseMs : probePauseMs;
    this.#askProbe(error, { isTrial: false, nowMs, pauseMs });
  }

  /** At most one at a time. In place of a trial that failed, it is the trial. */
  #askProbe(
    error: ApiError,
    {
      isTrial,
      nowMs,
      pauseMs,
    }: { readonly isTrial: boolean; readonly nowMs: number; readonly pauseMs: number },
  ): void {
    const { probe } = this.#options;
    if (probe === undefined) return this.#open(error, nowMs);
    if (this.#probe !== undefined || nowMs < this.#probedMs + pauseMs) return;
    void this.#run(probe, isTrial ? this.begin() : 0);
  }

  async #run(probe: () => Promise<Probed>, trial: number): Promise<void> {
    const mark = {};
    this.#probe = mark;
    const probed = await probe();
    // Closed by hand or with other settings meanwhile: what it found is of the past.
    if (this.#probe === mark) this.#take(probed, trial);
  }

  #take({ error, nowMs }: Probed, trial: number): void {
    this.#probe = undefined;
    this.#probedMs = nowMs;
    if (error?.upstream?.reason === "auth") this.#options.onKeyRejected?.();
    if (trial !== 0) {
      if (!this.#endTrial(trial)) return;
      if (error !== undefined) return this.#open(error, nowMs, true);
      this.#serveFirst();
      this.close(nowMs);
    } else if (this.#openUntilMs === 0) {
      if (error !== undefined) this.#open(error, nowMs, true);
      // It works: what the account sends does not, and is held against nobody.
      else this.#failures.clear();
    }
  }

  #open(error: ApiError, nowMs: number, isProbed = false): void {
    const isSure = isProbed || error.upstream?.isReply !== true;
    const { first, most } =
      pausesMs[isOperators(reasonOf(error)) && isSure ? "refused" : "failing"];
    if (this.#openUntilMs === 0) this.#openSinceMs = nowMs;
    const pauseMs = Math.min(most, first * 2 ** Math.min(10, this.#openings));
    this.#openUntilMs = nowMs + Math.max(pauseMs, Math.min(most, error.upstream?.delayMs ?? 0));
    this.#openings++;
    this.failure = error;
    this.forgetServed();
    this.#options.onChange(this.view(nowMs));
  }

  #turn(nowMs: number): void {
    const ageMs = nowMs - this.#bucketStartMs;
    if (ageMs < bucketMs) return;
    const isNext = ageMs < 2 * bucketMs;
    this.#requestsBefore = isNext ? this.#requests : 0;
    this.#repeatsBefore = isNext ? this.#repeats : 0;
    this.#suspectRepeatsBefore = isNext ? this.#suspectRepeats : 0;
    this.#failures.turn(isNext);
    this.#firmFailures.turn(isNext);
    this.#requests = 0;
    this.#repeats = 0;
    this.#suspectRepeats = 0;
    this.#bucketStartMs = isNext ? this.#bucketStartMs + bucketMs : nowMs;
  }
}

const reasonOf = (error: ApiError | undefined): UpstreamReason =>
  error?.upstream?.reason ?? "failed";

/** It cannot work until the operator does something. */
const isOperators = (reason: UpstreamReason) => reason === "auth" || reason === "quota";

/** Whether what a caller sent can be the cause: then it says little of the target. */
function mayBeInput({ upstream }: ApiError, hasBegun: boolean): boolean {
  const { reason = "failed", isReply } = upstream ?? {};
  switch (reason) {
    case "failed":
    case "missing":
    case "overloaded":
    // A caller's text can make a vendor say so.
    case "auth":
    case "quota":
      return true;
    case "timeout":
      return isReply === true;
    case "unreachable":
      // No connection, or one that broke in mid-answer.
      return hasBegun;
    default:
      return false;
  }
}
