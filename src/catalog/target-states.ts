import { removedKind } from "../base/removed-kind.ts";
import type { TargetHealth } from "./health.ts";
import {
  engineProvider,
  type ProviderEntry,
  type ProviderKey,
  type StoredSecret,
} from "./model.ts";
import { defaultKey, keysOf } from "./provider-keys.ts";
import { bestState, type TargetState, targetState } from "./state.ts";
import { connectionDigest, type TargetCheck } from "./target-checks.ts";

/** Data that states depend on, read once per list. */
export interface StateSources {
  readonly providers: readonly ProviderEntry[];
  /** Undefined without a running gateway. */
  readonly health: readonly TargetHealth[] | undefined;
  readonly checks: readonly TargetCheck[];
  /** Whether a variable has a value. */
  readonly isSet: (variable: string) => boolean;
}

/** One model of one provider, by one of its keys. */
export interface KnownTarget {
  /** Null where the provider has no choice of keys. */
  readonly key: string | null;
  readonly state: TargetState;
  /** Undefined while it has not been called. */
  readonly health: TargetHealth | undefined;
}

interface Target {
  readonly provider: string;
  /** As the provider calls it. */
  readonly model: string;
}

/** What was found with a key as it is now. */
interface KeyChecks {
  /** By model; that of the key alone by "". */
  readonly checks: ReadonlyMap<string, TargetCheck>;
  /** The test of the key alone failed, and nothing has worked with it since. */
  readonly isRejected: boolean;
}

/** The embedded models are called like a provider without a key. */
export const engineEntry: ProviderEntry = {
  name: engineProvider,
  kind: "openai",
  baseUrl: "",
  allowPrivate: false,
};

/** The state of every target, the same wherever it is shown. */
export class TargetStates {
  readonly #sources: StateSources;
  readonly #health: ReadonlyMap<string, TargetHealth>;
  /** By provider and key. The store keeps the newest check of each target. */
  readonly #byKey: ReadonlyMap<string, readonly TargetCheck[]>;
  readonly #providers: ReadonlyMap<string, ProviderEntry>;
  readonly #known = new Map<string, KeyChecks>();

  constructor(sources: StateSources) {
    const { health = [], checks, providers } = sources;
    this.#sources = sources;
    this.#health = new Map(health.map((one) => [idOf(one), one]));
    this.#byKey = Map.groupBy(checks, ({ provider, key }) => JSON.stringify([provider, key]));
    this.#providers = new Map([engineEntry, ...providers].map((entry) => [entry.name, entry]));
  }

  /** By every key of the provider; by none where it needs none or is not there. */
  targets({ provider, model }: Target): readonly KnownTarget[] {
    const entry = this.#providers.get(provider);
    if (entry === undefined) return [];
    const keys = keysOf(entry);
    const choices: readonly (ProviderKey | undefined)[] = keys.length === 0 ? [undefined] : keys;
    return choices.map((key) => {
      const name = keys.length > 1 ? (key?.name ?? null) : null;
      const health = this.#health.get(idOf({ provider, model, key: name }));
      return { key: name, health, state: this.#stateOf({ entry, key, model, health }) };
    });
  }

  /** The best key decides. */
  route(target: Target): TargetState {
    return bestState(this.targets(target).map(({ state }) => state)) ?? "failing";
  }

  /**
   * Of one key. What fails for single models says nothing of the key: it fails where the vendor
   * rejects the key itself, or where nothing works with it.
   */
  key(entry: ProviderEntry, key: ProviderKey, targets: readonly KnownTarget[]): TargetState {
    const { checks, isRejected } = this.#checksWith(entry, key);
    const states = targets.map(({ state }) => state);
    const isServing = states.includes("serving");
    const isOwn = ({ health }: KnownTarget) =>
      health?.state === "open" && (health.reason === "auth" || health.reason === "quota");
    const own = checks.get("");
    const isAccepted =
      own?.isOk === true && ![...checks.values()].some((one) => !one.isOk && one.atMs > own.atMs);
    const allFail = states.length > 0 && states.every((state) => state === "failing");
    return targetState({
      isPaused: key.isPaused === true,
      isOut:
        entry.kind === removedKind ||
        this.#lacks(key.secret) ||
        allFail ||
        (!isServing && targets.some(isOwn)),
      lastOk: isRejected ? false : isServing || isAccepted || undefined,
    });
  }

  /** No call to a provider of a removed kind can succeed. */
  isRemoved(provider: string): boolean {
    return this.#providers.get(provider)?.kind === removedKind;
  }

  /** Its kind was removed, or the test of a provider without a key failed. */
  isRejected(entry: ProviderEntry): boolean {
    if (entry.kind === removedKind) return true;
    return keysOf(entry).length === 0 && this.#checksWith(entry, undefined).isRejected;
  }

  /** The checks of a provider that were made with a key as it is now. */
  #checksWith(entry: ProviderEntry, key: ProviderKey | undefined): KeyChecks {
    const id = JSON.stringify([entry.name, key?.name ?? defaultKey]);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const digest = connectionDigest(entry, key);
    const all = (this.#byKey.get(id) ?? []).filter((one) => one.digest === digest);
    const own = all.find(({ model }) => model === "");
    const isRejected =
      own?.isOk === false && !all.some(({ isOk, atMs }) => isOk && atMs > own.atMs);
    const fresh = { checks: new Map(all.map((one) => [one.model, one])), isRejected };
    this.#known.set(id, fresh);
    return fresh;
  }

  #stateOf(options: {
    readonly entry: ProviderEntry;
    readonly key: ProviderKey | undefined;
    readonly model: string;
    readonly health: TargetHealth | undefined;
  }): TargetState {
    const { entry, key, model, health } = options;
    const lacksOption = Object.values(entry.options ?? {}).some(
      (one) => !("text" in one) && this.#lacks(one),
    );
    const lacksKey = key !== undefined && this.#lacks(key.secret);
    const isSkipped = health?.state === "open" || health?.state === "half-open";
    const known = this.#lastOutcome(entry, key, model);
    return targetState({
      isPaused: entry.isPaused === true || key?.isPaused === true,
      isOut: entry.kind === removedKind || lacksKey || lacksOption || isSkipped,
      lastOk: known ?? (health?.hasServed === true ? true : undefined),
    });
  }

  /** Of the last check; undefined where there is none that still holds. */
  #lastOutcome(
    entry: ProviderEntry,
    key: ProviderKey | undefined,
    model: string,
  ): boolean | undefined {
    const { checks, isRejected } = this.#checksWith(entry, key);
    // A key that was accepted says nothing of the model; one that was rejected does.
    return isRejected ? false : checks.get(model)?.isOk;
  }

  /** Its variable has no value. */
  #lacks(one: StoredSecret): boolean {
    return "variable" in one && !this.#sources.isSet(one.variable);
  }
}

const idOf = ({ provider, model, key }: Target & { readonly key: string | null }) =>
  JSON.stringify([provider, model, key]);
