import { ApiError } from "../base/errors.ts";
import type { Signal } from "../call/signal.ts";
import type { ServedTarget, TargetHealth } from "../catalog/health.ts";
import { type Model, type Route, withRoutes } from "../catalog/model.ts";
import type { ChangedProvider, KeyTerms, Provider } from "../providers/contract.ts";
import {
  Attempt,
  type FailedAttempt,
  isUpstreamFailure,
  type Plan,
  type RoutedCall,
  type Target,
} from "./attempt.ts";
import { Breaker, type Probed } from "./breaker.ts";
import { Tries } from "./tries.ts";

export interface RouterOptions {
  /** With one of its keys; without a name, the only one or the first. */
  readonly findProvider: (name: string, key?: string) => Provider | undefined;
  /** The keys of a provider that has several, by name and share; none for all others. */
  readonly keysOf?: (provider: string) => readonly KeyTerms[];
  readonly random?: () => number;
  /** How often the same target may be asked again for one call. */
  readonly retries?: number;
  /** Whether targets that fail are left out for a while. */
  readonly hasBreakers?: boolean;
  readonly onChange?: (health: TargetHealth) => void;
  /** A target served its first call since the start, or since it was changed or out of service. */
  readonly onServed?: (target: ServedTarget) => void;
  /** Called for each reply that rejects the key. A caller's input may be the reason. */
  readonly onKeyRejected?: (rejected: ChangedProvider) => void;
  /**
   * One small call of our own to a target, bounded in time; rejects with what the provider throws.
   * It decides where a single account's calls fail.
   */
  readonly probe?: (target: ProbedTarget) => Promise<unknown>;
  readonly nowMs?: () => number;
  /** Resolves after so long, or when the signal is aborted. */
  readonly sleep?: (ms: number, signal: Signal) => Promise<void>;
}

export interface ProbedTarget {
  readonly provider: Provider;
  readonly route: Route;
  readonly model: Model;
}

const none: readonly FailedAttempt[] = [];
/** Nobody is kept waiting longer for a target to come back; the caller can wait better. */
const longestPauseMs = 2_000;
/** No further attempt begins later than this after the first. */
const retryWithinMs = 30_000;
const firstBackoffMs = 100;
const fallbackJitterMs = 50;
const restJitter = 0.1;

/**
 * Chooses who serves a call, until one begins to answer: by priority, then weight, those that fail
 * left out; each target once, then, within the budget of each, again. `serve` resolves when an
 * upstream has begun to answer.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #random: () => number;
  readonly #retries: number;
  readonly #nowMs: () => number;
  readonly #sleep: (ms: number, signal: Signal) => Promise<void>;
  /** Rebuilt when the catalog or the keys change. */
  #plans = new WeakMap<Model, Plan>();
  readonly #breakers = new Map<string, Breaker>();

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#retries = options.retries ?? 0;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#sleep = options.sleep ?? pause;
  }

  serve<T>(model: Model, call: RoutedCall, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    const plan = this.#planOf(model);
    const startedMs = this.#nowMs();
    const { only } = plan;
    const provider = only && this.#options.findProvider(only.route.provider, only.key);
    // Where there is no choice, there is no loop to wait in.
    if (only === undefined || provider === undefined || !only.breaker.isClear)
      return this.#choose(new Tries({ plan, call, startedMs }), run);
    const attempt = new Attempt({ provider, target: only, call, before: none, startedMs });
    call.beginAttempt();
    return begin(run, attempt).then(
      (value) => {
        attempt.succeed();
        return value;
      },
      (error: unknown) => {
        const tries = new Tries({ plan, call, startedMs });
        tries.note({ target: only, attempt, thrown: error });
        return this.#choose(tries, run);
      },
    );
  }

  /** The model with those of its routes that can do what a call asks for. */
  narrow(model: Model, canServe: (provider: Provider, upstreamModel: string) => boolean): Model {
    return withRoutes(model, (route) => {
      const found = this.#options.findProvider(route.provider);
      return found === undefined || canServe(found, route.model);
    });
  }

  /** The first of a model's targets that can do something, for what is not a call of the model. */
  find(
    { routes }: Model,
    canServe: (provider: Provider) => boolean,
  ): { readonly provider: Provider; readonly target: { readonly model: string } } | undefined {
    for (const { provider: name, model } of routes) {
      const provider = this.#options.findProvider(name);
      if (provider !== undefined && canServe(provider)) return { provider, target: { model } };
    }
    return undefined;
  }

  health(nowMs = this.#nowMs()): readonly TargetHealth[] {
    return [...this.#breakers.values()].map((breaker) => breaker.view(nowMs));
  }

  /** Forgets what is held against a provider's targets, or one of them; says how many. */
  reset(provider?: string, model?: string): number {
    let count = 0;
    const nowMs = this.#nowMs();
    for (const breaker of this.#breakers.values()) {
      const view = breaker.view(nowMs);
      if (provider !== undefined && view.provider !== provider) continue;
      if (model !== undefined && view.model !== model) continue;
      breaker.close(nowMs);
      count++;
    }
    return count;
  }

  /** A provider, or one of its keys, was changed: what its targets did before says nothing now. */
  forget({ name, key }: ChangedProvider): void {
    const nowMs = this.#nowMs();
    for (const breaker of this.#breakers.values()) {
      const view = breaker.view(nowMs);
      if (view.provider === name && (view.key ?? undefined) === key) breaker.forget(nowMs);
    }
  }

  /** Reports the next success again. */
  forgetServed({ provider, key, model }: ServedTarget): void {
    this.#breakers.get(targetKey({ provider, model }, key))?.forgetServed();
  }

  /** Forgets targets that no model leads to any more, and which keys there were. */
  keepOnly(models: Iterable<Model>): void {
    this.#plans = new WeakMap();
    const known = new Set<string>();
    for (const { routes } of models)
      for (const route of routes)
        for (const { name } of this.#keysOf(route)) known.add(targetKey(route, name));
    for (const key of this.#breakers.keys()) if (!known.has(key)) this.#breakers.delete(key);
  }

  async #choose<T>(tries: Tries, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    const { call } = tries;
    for (;;) {
      const next = this.#next(tries, this.#nowMs());
      if (next === undefined) throw tries.worst(this.#nowMs());
      const { target, waitMs, isRepeat } = next;
      const provider = this.#options.findProvider(target.route.provider, target.key);
      tries.count(target);
      if (provider === undefined) continue;
      // Before the pause: those who wait at the same time share one budget.
      if (isRepeat) target.breaker.repeat(call.accountId);
      call.beginAttempt();
      if (waitMs > 0) {
        await this.#pause(waitMs, call);
        if (call.isOver) throw call.signal.reason;
        // Others may have learned more meanwhile.
        if (!target.breaker.mayAsk(this.#nowMs())) continue;
      }
      const attempt = new Attempt({
        provider,
        target,
        call,
        before: tries.failed,
        startedMs: this.#nowMs(),
      });
      try {
        const value = await run(attempt);
        attempt.succeed();
        return value;
      } catch (thrown) {
        tries.note({ target, attempt, thrown });
      }
    }
  }

  /** No target is asked in it, so none may run out of its time; only the end of the call ends it. */
  async #pause(waitMs: number, call: RoutedCall): Promise<void> {
    const untilMs = this.#nowMs() + waitMs;
    for (let leftMs = waitMs; leftMs > 0 && !call.isOver; leftMs = untilMs - this.#nowMs()) {
      await this.#sleep(leftMs, call.signal);
      call.beginAttempt();
    }
  }

  /** Those not asked yet, by rank; else the one that can be asked soonest, if that is soon enough. */
  #next(tries: Tries, nowMs: number): Next | undefined {
    for (const rank of tries.plan.ranks) {
      const ready = rank.filter(
        (target) =>
          tries.countOf(target) === 0 && !tries.hasFailed(target) && target.breaker.mayAsk(nowMs),
      );
      const target = this.#byWeight(ready, tries.plan.hasKeys);
      if (target === undefined) continue;
      // So that those who were turned away do not all turn up elsewhere in the same moment.
      const isCrowded = tries.lastReason === "overloaded";
      return { target, waitMs: isCrowded ? this.#random() * fallbackJitterMs : 0, isRepeat: false };
    }
    return this.#soonest(tries, nowMs);
  }

  #soonest(tries: Tries, nowMs: number): Next | undefined {
    let best: Next | undefined;
    for (const target of tries.plan.ranks.flat()) {
      const waitMs = this.#waitFor(target, tries, nowMs);
      if (waitMs === undefined || waitMs > longestPauseMs) continue;
      if (nowMs + waitMs - tries.startedMs > retryWithinMs) continue;
      if (best === undefined || waitMs < best.waitMs)
        best = { target, waitMs, isRepeat: tries.countOf(target) > 0 };
    }
    // So that those who were told the same moment do not all turn up in it.
    return best && { ...best, waitMs: best.waitMs * (1 + restJitter * this.#random()) };
  }

  /** Until it may be asked; undefined: not for this call. */
  #waitFor(target: Target, tries: Tries, nowMs: number): number | undefined {
    const { breaker } = target;
    if (breaker.isOpen) return undefined;
    const restMs = Math.max(breaker.restMs(nowMs), tries.restMs(target, nowMs));
    const count = tries.countOf(target);
    if (count === 0) return restMs > 0 ? restMs : undefined;
    const isTransient = tries.mayRepeat(target);
    if (count > this.#retries || !isTransient) return undefined;
    if (!breaker.mayRepeat(nowMs, tries.call.accountId)) return undefined;
    const backoffMs = firstBackoffMs * 2 ** (count - 1) * (0.5 + this.#random());
    return Math.max(restMs, backoffMs);
  }

  /** By the weights of routes, then by those of the keys of the chosen one. */
  #byWeight(targets: readonly Target[], hasKeys: boolean): Target | undefined {
    if (!hasKeys) return this.#pick(targets, ({ route: { weight } }) => weight);
    const routes = [...new Set(targets.map(({ route }) => route))];
    const route = this.#pick(routes, ({ weight }) => weight);
    const keyed = targets.filter((target) => target.route === route);
    return this.#pick(keyed, ({ keyWeight }) => keyWeight);
  }

  /** In proportion to weights; one of weight 0 only where there is no other. */
  #pick<T>(all: readonly T[], weightOf: (one: T) => number): T | undefined {
    if (all.length < 2) return all[0];
    const total = all.reduce((sum, one) => sum + weightOf(one), 0);
    let left = this.#random() * total;
    for (const one of all) {
      left -= weightOf(one);
      if (left < 0) return one;
    }
    return all[0];
  }

  #planOf(model: Model): Plan {
    const known = this.#plans.get(model);
    if (known !== undefined) return known;
    const nowMs = this.#nowMs;
    const targets = model.routes.flatMap((route) =>
      this.#keysOf(route).map(({ name: key, weight: keyWeight }) => ({
        route,
        key,
        keyWeight,
        breaker: this.#breakerOf(route, model, key),
        nowMs,
      })),
    );
    const ranks = [...Map.groupBy(targets, ({ route }) => route.priority ?? 1)]
      .sort(([left], [right]) => left - right)
      .map(([, rank]) => rank);
    const only = targets.length === 1 ? targets[0] : undefined;
    const plan = { model, ranks, only, hasKeys: targets.some(({ key }) => key !== undefined) };
    this.#plans.set(model, plan);
    return plan;
  }

  /** One without a name where a provider has no choice of keys. */
  #keysOf({ provider }: Route): readonly RouteKey[] {
    const keys = this.#options.keysOf?.(provider) ?? [];
    return keys.length === 0 ? onlyKey : keys;
  }

  #breakerOf(route: Route, model: Model, key: string | undefined): Breaker {
    const id = targetKey(route, key);
    const { probe, onServed, onKeyRejected } = this.#options;
    const target = { provider: route.provider, model: route.model, key };
    let breaker = this.#breakers.get(id);
    if (breaker === undefined) {
      breaker = new Breaker({
        ...target,
        probe: probe && (() => this.#probe(probe, { route, model }, key)),
        onServed: onServed && (() => onServed(target)),
        onKeyRejected: onKeyRejected && (() => onKeyRejected({ name: route.provider, key })),
        isEnabled: this.#options.hasBreakers ?? true,
        onChange: this.#options.onChange ?? (() => {}),
      });
      this.#breakers.set(id, breaker);
    }
    return breaker;
  }

  async #probe(
    probe: NonNullable<RouterOptions["probe"]>,
    target: Omit<ProbedTarget, "provider">,
    key: string | undefined,
  ): Promise<Probed> {
    const provider = this.#options.findProvider(target.route.provider, key);
    let error: ApiError | undefined;
    if (provider !== undefined)
      await probe({ provider, ...target }).catch((thrown: unknown) => (error = toFault(thrown)));
    return { error, nowMs: this.#nowMs() };
  }
}

/** What is thrown at once is a failed attempt like any other. */
function begin<T>(run: (attempt: Attempt) => Promise<T>, attempt: Attempt): Promise<T> {
  try {
    return run(attempt);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** One that answers works, if only to refuse or to ask for time. */
function toFault(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof ApiError) || !isUpstreamFailure(thrown)) return undefined;
  const isAnswer = thrown.upstream?.reason === "limited" || thrown.code === "model_loading";
  return isAnswer ? undefined : thrown;
}

interface Next {
  readonly target: Target;
  readonly waitMs: number;
  readonly isRepeat: boolean;
}

interface RouteKey {
  readonly name: string | undefined;
  readonly weight: number;
}

const onlyKey: readonly RouteKey[] = [{ name: undefined, weight: 1 }];

const targetKey = (
  { provider, model }: Pick<Route, "provider" | "model">,
  key: string | undefined,
) => `${provider}\n${model}\n${key ?? ""}`;

/** Ends early when the call does. */
function pause(waitMs: number, signal: Signal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, waitMs);
    signal.addEventListener("abort", end);
  });
}
