import { ApiError } from "../base/errors.ts";
import type { Model, Route } from "../catalog/model.ts";
import type { Provider } from "../providers/contract.ts";

export interface Attempt {
  readonly provider: Provider;
  readonly target: Route;
  /** The targets that failed before, each with the code of its failure. */
  readonly tried: readonly string[];
}

const none: readonly string[] = [];

export interface RouterOptions {
  readonly findProvider: (name: string) => Provider | undefined;
  readonly random?: () => number;
}

/**
 * Chooses who serves a call: by weight, then, while nothing has gone to the caller, each of the
 * others once. `run` resolves when the upstream has begun to answer.
 */
export class Router {
  readonly #findProvider: (name: string) => Provider | undefined;
  readonly #random: () => number;

  constructor({ findProvider, random = Math.random }: RouterOptions) {
    this.#findProvider = findProvider;
    this.#random = random;
  }

  serve<T>(model: Model, signal: AbortSignal, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    const [only, ...others] = model.routes;
    const provider = only === undefined ? undefined : this.#findProvider(only.provider);
    // Where there is no choice, there is no loop to wait in.
    if (only === undefined || provider === undefined || others.length > 0)
      return this.#serveByChoice(model, signal, run);
    return run({ provider, target: only, tried: none });
  }

  async #serveByChoice<T>(
    model: Model,
    signal: AbortSignal,
    run: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const failures: ApiError[] = [];
    const tried: string[] = [];
    for (const route of this.#order(model.routes)) {
      const provider = this.#findProvider(route.provider);
      if (provider === undefined) continue;
      try {
        return await run({ provider, target: route, tried });
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiError) || !mayTryAnother(error)) throw error;
        failures.push(error);
        tried.push(`${route.provider}/${route.model} ${error.code}`);
      }
    }
    throw worst(failures, model.id);
  }

  /** Weighted without replacement; a route of weight 0 comes only after all others. */
  #order(routes: readonly Route[]): readonly Route[] {
    if (routes.length < 2) return routes;
    const keyed = routes.map((route) => ({
      route,
      key: route.weight === 0 ? -1 : this.#random() ** (1 / route.weight),
    }));
    return keyed.sort((left, right) => right.key - left.key).map(({ route }) => route);
  }
}

function mayTryAnother({ code }: ApiError): boolean {
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

/** "Limited" is said only when every target is limited; else the caller hears of the failure. */
function worst(failures: readonly ApiError[], modelId: string): ApiError {
  const failed = failures.find(({ code }) => code !== "upstream_rate_limited");
  if (failed !== undefined) return failed;
  const [soonest] = [...failures].sort(
    (left, right) => (left.retryAfterMs ?? 0) - (right.retryAfterMs ?? 0),
  );
  return (
    soonest ??
    new ApiError({
      code: "upstream_unavailable",
      message: "The model cannot be reached at present. The operator finds the reason in the log.",
      detail: `no route of ${modelId} leads to a provider that can be used`,
    })
  );
}
