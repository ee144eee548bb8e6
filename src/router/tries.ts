import { ApiError } from "../base/errors.ts";
import type { Route } from "../catalog/model.ts";
import {
  type Attempt,
  isUpstreamFailure,
  type Plan,
  type RoutedCall,
  type Target,
} from "./attempt.ts";
import type { Breaker } from "./breaker.ts";

/** What was tried for one call. */
export class Tries {
  readonly plan: Plan;
  readonly call: RoutedCall;
  readonly startedMs = Date.now();
  /** For the receipt. */
  readonly texts: string[] = [];
  readonly #failures: ApiError[] = [];
  readonly #counts = new Map<Breaker, number>();
  readonly #last = new Map<Breaker, ApiError>();

  constructor(plan: Plan, call: RoutedCall) {
    this.plan = plan;
    this.call = call;
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
    this.#last.set(target.breaker, error);
    this.texts.push(tryText(target.route, error));
  }

  /** A failure that may be over in a moment. */
  mayRepeat({ breaker }: Target): boolean {
    switch (this.#last.get(breaker)?.upstream?.reason) {
      case "failed":
      case "unreachable":
      case "overloaded":
      case "limited":
        return true;
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
      if (breaker.isOpen && breaker.failure !== undefined && this.countOf({ breaker }) === 0)
        failures.push(takenOut(breaker.failure, breaker.openMs(nowMs)));
      else if (restMs > 0) waits.push(restMs);
    }
    const failed = failures.find(({ code }) => code !== "upstream_rate_limited");
    if (failed !== undefined) return failed;
    if (failures.length === 0 && waits.length === 0) return unusable(this.plan.model.id);
    return limited(failures, waits);
  }
}

const leftOut = new ApiError({ code: "internal_error", message: "The caller has left." });

function limited(failures: readonly ApiError[], waits: readonly number[]): ApiError {
  const told = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const soonestMs = Math.min(...(waits.length > 0 ? waits : told), 60_000);
  return new ApiError({
    code: "upstream_rate_limited",
    message:
      "The model is receiving too many requests just now. Try again after the time in Retry-After.",
    detail: failures.at(-1)?.detail ?? "every target has asked to be left alone",
    retryAfterMs: Math.max(1_000, soonestMs),
    upstream: { reason: "limited" },
  });
}

/** The failure that took a target out of service, told again while it is out. */
function takenOut(failure: ApiError, openMs: number): ApiError {
  return new ApiError({
    code: failure.code,
    message: failure.message,
    detail: `taken out of service for ${Math.ceil(openMs / 1000)} s more: ${failure.detail ?? failure.code}`,
    retryAfterMs: Math.max(1_000, openMs),
    upstream: failure.upstream,
  });
}

function unusable(modelId: string): ApiError {
  return new ApiError({
    code: "upstream_unavailable",
    message: "The model cannot be reached at present. The operator finds the reason in the log.",
    detail: `no route of ${modelId} leads to a provider that can be used`,
  });
}

/** For the operator: what the upstream said is in the detail, which never holds keys or prompts. */
function tryText({ provider, model }: Route, { code, detail }: ApiError): string {
  const why = detail === undefined ? "" : ` (${detail.replaceAll(",", ";").slice(0, 200)})`;
  return `${provider}/${model} ${code}${why}`;
}
