import type { AuditRecord } from "../base/audit.ts";
import { toDateText } from "../base/dates.ts";
import { conflict, invalid, Problem } from "../base/problem.ts";
import { type Deprecation, type Lifecycle, lifecycleState } from "./lifecycle.ts";
import {
  isServed,
  isWhole,
  type Model,
  type PriceVersion,
  type ProviderEntry,
  priceAt,
  type Route,
  withRoutes,
} from "./model.ts";

export interface CatalogContent {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly Model[];
}

export interface CatalogWrite {
  /** When changed route costs take effect. */
  readonly atMs: number;
  readonly saveProviders?: readonly ProviderEntry[];
  readonly removeProviders?: readonly string[];
  /** Their prices are left as they are. */
  readonly saveModels?: readonly Model[];
  /** They are no longer loaded. Their price and cost versions stay, for receipts that name them. */
  readonly removeModels?: readonly string[];
  /**
   * The new model is among `saveModels`. It gets the prices of the old one, which is removed, and its
   * place in the lists of models that keys can use.
   */
  readonly renameModel?: { readonly from: string; readonly to: string };
  /** New versions, each active from its effective time. */
  readonly addPrices?: readonly (Pick<PriceVersion, "price" | "effectiveAtMs" | "createdAtMs"> & {
    readonly modelId: string;
  })[];
  /** Of the config file that this write makes the store match. */
  readonly manifestHash?: string;
  /** The entries of the first file since the upgrade are marked as its own now. */
  readonly endsAdoption?: true;
}

export interface ManifestState {
  /** Of the config file as it was last applied. */
  readonly hash: string | undefined;
  /** The store is older than origins: the first file that is applied adopts what it names. */
  readonly adopts: boolean;
}

/** Implemented by the store. One write is one transaction and one entry of the change feed. */
export interface CatalogStore {
  load(): Promise<CatalogContent>;
  /** Without an audit record only the hash of a config file that changes nothing else. */
  write(changes: CatalogWrite, audit: AuditRecord | undefined): Promise<void>;
  manifestState(): Promise<ManifestState>;
  /** Whether a receipt names the model. Sums that are still open are not looked at. */
  hasCalls(id: string, isInSums: boolean): Promise<boolean>;
}

/** Why callers cannot reach a model. They are not told: it is the operator's affair. */
export type UnservedReason = "unknown_model" | "retired" | "no_route" | "needs_price";

/** The catalog in memory: read on every request, replaced whole when it changed. */
export class Catalog {
  readonly #store: CatalogStore;
  readonly #isUsable: (route: Route) => boolean;
  #models: ReadonlyMap<string, Model> = new Map();
  /** All of them, by id and alias. */
  #named: ReadonlyMap<string, Model> = new Map();
  /** Those that callers can reach, by id and alias, found out once and not on every request. */
  #served: ReadonlyMap<string, Model> = new Map();
  #providers: readonly ProviderEntry[] = [];

  /** Routes to a provider that is switched off are not used. */
  constructor(store: CatalogStore, isUsable: (route: Route) => boolean = () => true) {
    this.#store = store;
    this.#isUsable = isUsable;
  }

  async reload(): Promise<void> {
    const { models, providers } = await this.#store.load();
    this.#models = new Map(models.map((model) => [model.id, model]));
    this.#named = new Map(
      models.flatMap((model) => namesOf(model).map((name) => [name, model] as const)),
    );
    this.#served = new Map(
      models
        .map((model) => withPricesThatServe(withRoutes(model, this.#isUsable)))
        .filter(({ routes, prices }) => routes.length > 0 && prices.some(({ price }) => price))
        .flatMap((model) => namesOf(model).map((name) => [name, model])),
    );
    this.#providers = providers;
  }

  get providers(): readonly ProviderEntry[] {
    return this.#providers;
  }

  /** Routed, and priced at some moment, if not now. */
  get served(): Iterable<Model> {
    return new Set(this.#served.values());
  }

  /** The ids and aliases of the served models. */
  get servedNames(): Iterable<string> {
    return this.#served.keys();
  }

  /** A model with a price and a route, by its id or an alias; any other is unknown to callers. */
  findServed(id: string, nowMs: number): Model | undefined {
    const model = this.#served.get(id);
    return model !== undefined && priceAt(model, nowMs) !== undefined ? model : undefined;
  }

  /** Of a name that `findServed` does not find. */
  whyUnserved(name: string, nowMs: number): UnservedReason {
    const model = this.#named.get(name);
    if (model === undefined) return "unknown_model";
    if (lifecycleState(model.lifecycle, nowMs) === "retired") return "retired";
    return model.routes.some(this.#isUsable) ? "needs_price" : "no_route";
  }

  find(id: string): Model | undefined {
    return this.#models.get(id);
  }

  /** What to tell callers of a model; nothing while it is active. */
  deprecationOf({ lifecycle }: Model, nowMs: number): Deprecation | undefined {
    const { deprecatedAtMs, retiresAtMs } = lifecycle;
    if (deprecatedAtMs === undefined || deprecatedAtMs > nowMs) return undefined;
    return { deprecatedAtMs, retiresAtMs, replacement: this.#successorOf(lifecycle, nowMs) };
  }

  /** Where the model that was named has retired, too, the one after it. */
  #successorOf({ replacement }: Lifecycle, nowMs: number): string | undefined {
    const seen = new Set<string>();
    let id = replacement;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      const next = this.#models.get(id);
      if (next === undefined || lifecycleState(next.lifecycle, nowMs) !== "retired") return id;
      id = next.lifecycle.replacement;
    }
    return undefined;
  }
}

const namesOf = ({ id, aliases = [] }: Model) => [id, ...aliases];

/**
 * Marks a model deprecated, now or from a day that lies ahead, with the day it retires and the
 * model to use instead.
 */
export function deprecate(options: {
  readonly catalog: Catalog;
  readonly id: string;
  readonly fromMs?: number | undefined;
  readonly retiresAtMs: number;
  readonly replacement: string;
  readonly nowMs: number;
}): Model {
  const { catalog, id, fromMs, retiresAtMs, replacement, nowMs } = options;
  const model = known(catalog, id);
  const state = lifecycleState(model.lifecycle, nowMs);
  const successor = known(catalog, replacement, "replacement");
  if (state === "retired")
    throw new Problem({ code: "conflict", message: `Model ${id} is already retired.` });
  if (state === "deprecated" && fromMs !== undefined)
    throw conflict({
      from: `Model ${id} is already deprecated. Only its retirement date and replacement can be changed.`,
    });
  if (successor.id === model.id)
    throw invalid({ replacement: `Model ${id} cannot replace itself.` });
  if (successor.endpoint !== model.endpoint || successor.input !== model.input)
    throw invalid({
      replacement: `${replacement} cannot replace ${id} because its endpoint or input type is different.`,
    });
  if (successor.lifecycle.deprecatedAtMs !== undefined)
    throw invalid({
      replacement: `${replacement} is deprecated or scheduled for deprecation. Choose an active model.`,
    });
  if (!isServed(successor, nowMs) || catalog.findServed(replacement, nowMs) === undefined)
    throw invalid({
      replacement: `${replacement} is not served. Add a price and a route before you use it as a replacement.`,
    });
  if (retiresAtMs <= nowMs)
    throw new Problem({
      code: "invalid",
      field: "retires",
      message: "The retirement date must be in the future.",
      command: `model retire ${id}`,
    });
  if (fromMs !== undefined && fromMs >= retiresAtMs)
    throw invalid({
      from: "Deprecation must start before the retirement date, so that callers have time to migrate.",
    });
  const said = state === "deprecated" ? model.lifecycle.deprecatedAtMs : fromMs;
  const deprecatedAtMs = said ?? nowMs;
  return { ...model, lifecycle: { deprecatedAtMs, retiresAtMs, replacement } };
}

/** Retires a deprecated model now, whatever day was set. */
export function retire(options: {
  readonly catalog: Catalog;
  readonly id: string;
  readonly nowMs: number;
}): Model {
  const { catalog, id, nowMs } = options;
  const model = known(catalog, id);
  const state = lifecycleState(model.lifecycle, nowMs);
  if (state === "active" && model.lifecycle.deprecatedAtMs !== undefined)
    throw new Problem({
      code: "conflict",
      message: `Model ${id} is active until ${toDateText(model.lifecycle.deprecatedAtMs)}. To retire it sooner, deprecate it now first.`,
    });
  if (state === "active")
    throw new Problem({
      code: "conflict",
      message: `Model ${id} is active. Deprecate it first.`,
      command: `model deprecate ${id} --retires DATE --replacement ID`,
    });
  if (state === "retired")
    throw new Problem({ code: "conflict", message: `Model ${id} is already retired.` });
  return { ...model, lifecycle: { ...model.lifecycle, retiresAtMs: nowMs } };
}

/** A price that lacks a class it is billed by is none. */
function withPricesThatServe(model: Model): Model {
  const prices = model.prices.map((version) =>
    isWhole(model, version.price) ? version : { ...version, price: undefined },
  );
  return { ...model, prices };
}

function known(catalog: Catalog, id: string, field?: string): Model {
  const model = catalog.find(id);
  if (model === undefined) throw unknownModel(id, field);
  return model;
}

export function unknownModel(id: string, field?: string): Problem {
  return new Problem({
    code: "not_found",
    field,
    message: `Unknown model "${id}".`,
    command: "model list",
  });
}
