import { ApiError } from "../base/errors.ts";
import { tryAgainIn } from "../base/text/try-again.ts";
import type { Route } from "../catalog/model.ts";
import {
  type Attempt,
  type FailedAttempt,
  isUpstreamFailure,
  type Plan,
  type RoutedCall,
  type Target,
} from "./attempt.ts";
import type { Breaker } from "./breaker.ts";

interface TriesOptions {
  readonly plan: Plan;
  readonly call: RoutedCall;
  /** When the first target was asked. */
  readonly startedMs: number;
}

/** What was tried for one call. */
export class Tries {
  readonly plan: Plan;
  readonly call: RoutedCall;
  readonly startedMs: number;
  /** The attempts until now. */
  failed: readonly FailedAttempt[] = [];
  readonly #failures: ApiError[] = [];
  readonly #counts = new Map<Breaker, number>();
  /** Routes that failed for a reason that another key of the same provider shares. */
  #failedRoutes: Set<Route> | undefined;
  readonly #last = new Map<Breaker, { readonly error: ApiError; readonly atMs: number }>();

  constructor({ plan, call, startedMs }: TriesOptions) {
    this.plan = plan;
    this.call = call;
    this.startedMs = startedMs;
  }

  get lastReason(): string | undefined {
    return this.#failures.at(-1)?.upstream?.reason;
  }

  count({ breaker }: Target): void {
    this.#counts.set(breaker, this.countOf({ breaker }) + 1);
  }

  countOf({ breaker }: Pick<Target, "breaker">): number {
    return this.#counts.get(breaker) ?? 0;
  }

  /** Takes down a failure, or throws it where no other target can mend it. */
  note(options: {
    readonly target: Target;
    readonly attempt: Attempt;
    readonly thrown: unknown;
  }): void {
    const { target, attempt, thrown } = options;
    if (this.countOf(target) === 0) this.count(target);
    const error = thrown instanceof ApiError && !this.call.isOver ? thrown : leftOut;
    attempt.fail(error);
    if (error === leftOut || !isUpstreamFailure(error)) throw thrown;
    this.#failures.push(error);
    if (target.key !== undefined && !isOfKey(error))
      this.#failedRoutes = (this.#failedRoutes ?? new Set()).add(target.route);
    this.#last.set(target.breaker, { error, atMs: target.nowMs() });
    this.failed = attempt.failures;
  }

  /** Another key would only meet the same failure: the provider itself is down or slow. */
  hasFailed({ route }: Target): boolean {
    return this.#failedRoutes?.has(route) === true;
  }

  /** How long a target still asks to be left alone, by what it told this call. */
  restMs({ breaker }: Target, nowMs: number): number {
    const last = this.#last.get(breaker);
    const delayMs = last?.error.upstream?.delayMs;
    if (last === undefined || delayMs === undefined) return 0;
    return Math.max(0, last.atMs + delayMs - nowMs);
  }

  /** A failure that may be over in a moment. */
  mayRepeat({ breaker }: Target): boolean {
    const { reason, isReply = false } = this.#last.get(breaker)?.error.upstream ?? {};
    switch (reason) {
      case "failed":
      case "unreachable":
      case "overloaded":
        return true;
      case "limited":
        return !isReply;
      default:
        return false;
    }
  }

  /** "Limited" is said only when every target is limited; else the caller hears of the failure. */
  worst(nowMs: number): ApiError {
    const failures = [...this.#failures];
    const waits: number[] = [];
    for (const { breaker } of this.plan.ranks.flat()) {
      const restMs = breaker.restMs(nowMs);
      const { failure, plea, isOpen } = breaker;
      const wasAsked = this.#last.has(breaker);
      if (isOpen && failure !== undefined && !wasAsked)
        failures.push(toldAgain(failure, breaker.openMs(nowMs)));
      else if (restMs > 0) {
        waits.push(restMs);
        if (plea !== undefined && !wasAsked) failures.push(toldAgain(plea, restMs));
      }
    }
    const failed = failures.find(({ code }) => code !== "upstream_rate_limited");
    if (failed !== undefined) return failed;
    if (failures.length === 0 && waits.length === 0) return unusable(this.plan.model.id);
    return limited(failures, waits);
  }
}

/** Whether another key of the same provider may fare better. */
function isOfKey({ upstream }: ApiError): boolean {
  switch (upstream?.reason) {
    case "auth":
    case "quota":
    case "limited":
    // Vendors call a model missing that a key may not use.
    case "missing":
      return true;
    default:
      return false;
  }
}

const leftOut = new ApiError({ code: "internal_error", message: "The caller disconnected." });

function limited(failures: readonly ApiError[], waits: readonly number[]): ApiError {
  const [overLimit] = failures;
  const isTooLarge = failures.every(({ upstream }) => upstream?.isReply === true);
  if (overLimit !== undefined && isTooLarge && waits.length === 0) return tooLarge(overLimit);
  const told = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const soonestMs = Math.min(...(waits.length > 0 ? waits : told), 60_000);
  const retryAfterMs = Math.max(1_000, soonestMs);
  return new ApiError({
    code: "upstream_rate_limited",
    message: `The model is receiving too many requests. ${tryAgainIn(retryAfterMs)}`,
    detail: failures.at(-1)?.detail ?? "every target is rate limited",
    retryAfterMs,
    upstream: { reason: "limited" },
  });
}

/** No wait helps: the request alone is over the limit of every target. */
function tooLarge({ detail, upstream }: ApiError): ApiError {
  return new ApiError({
    code: "upstream_rate_limited",
    message:
      "The request has more tokens than the model accepts per minute. Shorten it or lower max_tokens.",
    detail,
    retryable: false,
    upstream,
  });
}

/** The last failure of a target that is being skipped, for a call that did not try it. */
function toldAgain(error: ApiError, leftMs: number): ApiError {
  return new ApiError({
    code: error.code,
    message: error.message,
    detail: `skipped for another ${Math.ceil(leftMs / 1000)} s: ${error.detail ?? error.code}`,
    retryAfterMs: Math.max(1_000, leftMs),
    upstream: error.upstream,
  });
}

function unusable(modelId: string): ApiError {
  return new ApiError({
    code: "upstream_unavailable",
    message:
      "The model is unavailable. If this continues, give the operator the x-request-id of this response.",
    detail: `no route of ${modelId} has a usable provider`,
  });
}
