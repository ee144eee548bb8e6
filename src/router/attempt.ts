import type { ApiError } from "../base/errors.ts";
import type { Signal } from "../call/signal.ts";
import type { Model, Route } from "../catalog/model.ts";
import type { Provider } from "../providers/contract.ts";
import type { Breaker } from "./breaker.ts";

/** The call that is served, as far as the choice of targets is concerned. */
export interface RoutedCall {
  /** Who pays for it: one account's failures say less of a target than those of two. */
  readonly accountId: string;
  /** Of the attempt under way. */
  readonly signal: Signal;
  /** Nobody waits for the answer any more. */
  readonly isOver: boolean;
  /** A target is about to be asked: it gets a signal and a time of its own. */
  beginAttempt(): void;
}

export interface AttemptOptions {
  readonly provider: Provider;
  readonly target: Target;
  readonly call: RoutedCall;
  /** The attempts before it. */
  readonly before: readonly FailedAttempt[];
  readonly startedMs: number;
}

/** An attempt that a target failed. */
export interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  /** The key of the provider, where it has several. */
  readonly key?: string | undefined;
  readonly code: string;
  readonly status: number | undefined;
  readonly detail: string | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
}

/** One attempt at one target. */
export class Attempt {
  readonly provider: Provider;
  readonly target: Route;
  /** The key of the provider, where it has several. */
  readonly key: string | undefined;
  readonly startedMs: number;
  readonly #breaker: Breaker;
  readonly #accountId: string;
  readonly #nowMs: () => number;
  readonly #trial: number;
  readonly #before: readonly FailedAttempt[];
  #failure: FailedAttempt | undefined;
  #hasBegun = false;
  #isOver = false;

  constructor({ provider, target, call, before, startedMs }: AttemptOptions) {
    const { route, breaker, nowMs } = target;
    this.provider = provider;
    this.target = route;
    this.key = target.key;
    this.startedMs = startedMs;
    this.#breaker = breaker;
    this.#accountId = call.accountId;
    this.#nowMs = nowMs;
    this.#before = before;
    this.#trial = breaker.begin();
  }

  /** Every failed attempt up to this one, which is the last of them if it has failed. */
  get failures(): readonly FailedAttempt[] {
    return this.#failure === undefined ? this.#before : [...this.#before, this.#failure];
  }

  /** What it had taken it did not do. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** It has begun to answer. */
  succeed(): void {
    this.#hasBegun = true;
    this.#breaker.succeed(this.#accountId, this.#nowMs(), this.#trial);
  }

  /** It did not begin to answer, or broke off later; or somebody else is to blame. */
  fail(error: ApiError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const nowMs = this.#nowMs();
    if (error.upstream !== undefined || isUpstreamFailure(error))
      this.#failure = this.#toFailure(error, nowMs);
    const isRefusal = error.upstream?.reason === "refused";
    // It answered, if only to refuse: nothing is wrong with it.
    if (isRefusal && !this.#hasBegun) this.#breaker.succeed(this.#accountId, nowMs, this.#trial);
    // Ours is still loading: it says so itself. And a call that took too long as a whole is no
    // fault of who answered all the time.
    else if (!isUpstreamFailure(error) || error.code === "model_loading" || isOfTheCall(error))
      this.#breaker.abandon(this.#trial);
    else {
      const trial = this.#trial;
      const accountId = this.#accountId;
      this.#breaker.fail(error, { accountId, nowMs, trial, hasBegun: this.#hasBegun });
    }
  }

  #toFailure(error: ApiError, endedMs: number): FailedAttempt {
    const { provider, model } = this.target;
    const { code, upstream } = error;
    const { status } = upstream ?? {};
    const { startedMs, key } = this;
    const failed = { code, status, detail: shortDetail(error), startedMs, endedMs };
    return { provider, model, ...(key === undefined ? {} : { key }), ...failed };
  }
}

export interface Target {
  readonly route: Route;
  /** The key of the provider, where it has several; each has a target of its own. */
  readonly key: string | undefined;
  readonly keyWeight: number;
  readonly breaker: Breaker;
  readonly nowMs: () => number;
}

/** The targets of a model, those that are asked first in front. */
export interface Plan {
  readonly model: Model;
  readonly ranks: readonly (readonly Target[])[];
  /** Where there is no choice. */
  readonly only: Target | undefined;
  /** Some provider has several keys. */
  readonly hasKeys: boolean;
}

const isOfTheCall = ({ code, upstream }: ApiError) =>
  code === "upstream_timeout" && upstream === undefined;

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

/** For the operator's eyes: what the upstream said, which never holds keys or prompts. */
export function shortDetail({ detail }: ApiError): string | undefined {
  return detail?.slice(0, 200);
}
