/** A router on a clock that only pauses move, and targets that do as they are told. */

import { ApiError, type ErrorCode, type UpstreamReason } from "../../src/base/errors.ts";
import type { Model } from "../../src/catalog/model.ts";
import type { Attempt, RoutedCall } from "../../src/router/attempt.ts";
import { Router, type RouterOptions } from "../../src/router/router.ts";

export const codes: Readonly<Record<UpstreamReason, ErrorCode>> = {
  auth: "upstream_unavailable",
  quota: "upstream_unavailable",
  missing: "upstream_unavailable",
  limited: "upstream_rate_limited",
  overloaded: "upstream_overloaded",
  timeout: "upstream_timeout",
  unreachable: "upstream_error",
  failed: "upstream_error",
  refused: "upstream_rejected",
};
export const failure = (reason: UpstreamReason, delayMs?: number, detail?: string) =>
  new ApiError({ code: codes[reason], message: reason, detail, upstream: { reason, delayMs } });

interface Place {
  readonly weight?: number;
  readonly priority?: number;
}

/** A model whose targets are a, b, c, … */
export const modelOf = (...places: readonly Place[]): Model => ({
  id: "m",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 0,
  lifecycle: {},
  prices: [],
  routes: places.map(({ weight = 1, priority }, at) => ({
    provider: "abcdef"[at] ?? "",
    model: "m",
    weight,
    ...(priority === undefined ? {} : { priority }),
  })),
});
export const one = modelOf({});
export const ranked = modelOf({ priority: 1 }, { priority: 2 });

export class Call implements RoutedCall {
  readonly accountId: string;
  readonly #controller = new AbortController();
  begun = 0;

  constructor(accountId = "acct_one") {
    this.accountId = accountId;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  beginAttempt(): void {
    this.begun++;
  }

  end(): void {
    this.#controller.abort(left);
  }
}

export const left = new ApiError({ code: "internal_error", message: "The caller disconnected." });

/** What a target does: answers, or fails with this. */
type Answer = ApiError | "ok";

export class Served {
  nowMs = 1_000_000;
  readonly asked: string[] = [];
  readonly pauses: number[] = [];
  /** The next answers of a target; the last one stays. */
  readonly answers: Record<string, Answer[]> = {};
  /** What else happens in a pause. */
  onPause: (() => void) | undefined;
  onAsk: (() => void) | undefined;
  attempt: Attempt | undefined;
  readonly router: Router;

  constructor(options: Partial<RouterOptions> = {}) {
    this.router = new Router({
      findProvider: (name) => ({ name }),
      random: () => 0.5,
      retries: 2,
      nowMs: () => this.nowMs,
      sleep: async (ms) => {
        this.pauses.push(ms);
        this.nowMs += ms;
        this.onPause?.();
      },
      ...options,
    });
  }

  /** The name of who served, or the error. */
  async call(model: Model, call: RoutedCall = new Call()): Promise<string | ApiError> {
    return this.router
      .serve(model, call, async (attempt) => {
        this.attempt = attempt;
        const { name } = attempt.provider;
        this.asked.push(name);
        this.onAsk?.();
        const queue = this.answers[name] ?? [];
        const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? "ok";
        if (answer !== "ok") throw answer;
        return name;
      })
      .catch((error: ApiError) => error);
  }

  stateOf(provider: string): string | undefined {
    return this.router.health().find((view) => view.provider === provider)?.state;
  }

  /** Asks nobody, and says who was asked until now. */
  takeAsked(): string {
    return this.asked.splice(0).join("");
  }
}
