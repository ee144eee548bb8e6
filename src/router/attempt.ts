import type { ApiError } from "../base/errors.ts";
import type { Model, Route } from "../catalog/model.ts";
import type { Provider } from "../providers/contract.ts";
import type { Breaker } from "./breaker.ts";

/** The call that is served, as far as the choice of targets is concerned. */
export interface RoutedCall {
  /** Of the attempt under way. */
  readonly signal: AbortSignal;
  /** Nobody waits for the answer any more. */
  readonly isOver: boolean;
  /** A target is about to be asked: it gets a signal and a time of its own. */
  beginAttempt(): void;
}

/** One asking of one target. */
export class Attempt {
  readonly provider: Provider;
  readonly target: Route;
  /** The targets that failed before, each with what became of it. */
  readonly tried: readonly string[];
  readonly #breaker: Breaker;
  #isOver = false;

  constructor(provider: Provider, { route, breaker }: Target, tried: readonly string[]) {
    this.provider = provider;
    this.target = route;
    this.tried = tried;
    this.#breaker = breaker;
    breaker.begin();
  }

  /** It has begun to answer. */
  succeed(): void {
    this.#breaker.succeed(Date.now());
  }

  /** It did not begin to answer, or broke off later; or somebody else is to blame. */
  fail(error: ApiError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // It answered, if only to refuse: nothing is wrong with it.
    if (error.upstream?.reason === "refused") this.#breaker.succeed(Date.now());
    // Ours is still loading: it says so itself.
    else if (!isUpstreamFailure(error) || error.code === "model_loading") this.#breaker.abandon();
    else this.#breaker.fail(error, Date.now());
  }
}

export interface Target {
  readonly route: Route;
  readonly breaker: Breaker;
}

/** The targets of a model, those that are asked first in front. */
export interface Plan {
  readonly model: Model;
  readonly ranks: readonly (readonly Target[])[];
  /** Where there is no choice. */
  readonly only: Target | undefined;
}

/** Another target may do better. */
export function isUpstreamFailure({ code }: ApiError): boolean {
  switch (code) {
    case "upstream_error":
    case "upstream_timeout":
    case "upstream_overloaded":
    case "upstream_unavailable":
    case "upstream_rate_limited":
    case "model_loading":
      return true;
    default:
      return false;
  }
}
