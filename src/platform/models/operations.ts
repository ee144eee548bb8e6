import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import {
  billedClasses,
  type Endpoint,
  type InputKind,
  pricedClasses,
} from "../../call/endpoint.ts";
import type { VoiceMap } from "../../call/speak.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import {
  isWhole,
  type Model,
  priceAt,
  type Route,
  type Timeouts,
  withRoutes,
} from "../../catalog/model.ts";
import { ownsCost } from "../../catalog/origin.ts";
import type { Audits } from "../audit/author.ts";
import { findModel } from "../input/values.ts";
import { type ModelView, toModelView, toPriceView } from "./views.ts";

/** One way to a model, with how it is doing. */
export interface RouteView {
  readonly provider: string;
  /** By the upstream's own name. */
  readonly model: string;
  readonly priority: number;
  readonly weight: number;
  /** Of speech models: `same`, or the upstream's name of each voice. */
  readonly voices: VoiceMap | null;
  /** Of embeddings: whether 3,072 numbers are asked for where the caller names no length. */
  readonly dimensions: "own" | "3072" | null;
  /** What the vendor asks, where it is known. */
  readonly cost: Readonly<Record<string, string>> | null;
  /** Whether the file that defines the routes states the cost, too. */
  readonly cost_in_file: boolean;
  /** Null where no server runs, or it was not called yet. */
  readonly state: TargetHealth["state"] | null;
  /** False for an embedded model while those are switched off. */
  readonly usable: boolean;
}

/** In seconds; null: as for every model. */
export interface TimeoutsView {
  readonly connect: number | null;
  readonly first_byte: number | null;
  readonly idle: number | null;
  readonly total: number | null;
}

export interface CatalogEntryView
  extends Omit<ModelView, "routes" | "route_list" | "endpoint" | "input"> {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly created_at: string;
  readonly context_length: number | null;
  readonly max_image_tokens: number | null;
  readonly max_audio_seconds: number | null;
  readonly timeouts: TimeoutsView;
  readonly routes: readonly RouteView[];
  /** In words; null when callers reach it. */
  readonly not_served_because: string | null;
  /** The prices that are set for later. */
  readonly coming: readonly {
    readonly price: Readonly<Record<string, string>> | null;
    readonly effective_at: string;
  }[];
  /** What it can be priced by. */
  readonly classes: readonly { readonly name: string; readonly needed: boolean }[];
}

export interface CatalogOperations {
  /** All models, as the operator sees them. */
  list(input: Record<never, never>): Promise<readonly CatalogEntryView[]>;
  show(input: { id: string }): Promise<CatalogEntryView>;
}

export const catalogAudits = { list: null, show: null } satisfies Audits<CatalogOperations>;

export interface CatalogDependencies {
  readonly catalog: CatalogStore;
  readonly clock: Clock;
  readonly isUsable: (route: Route) => boolean;
  readonly gateway?: { health(): readonly TargetHealth[] } | undefined;
}

export function catalogOperations(dependencies: CatalogDependencies): CatalogOperations {
  const { catalog } = dependencies;
  const view = (model: Model) => toEntryView(model, dependencies);
  return {
    async list() {
      return (await catalog.load()).models.map(view);
    },
    async show({ id }) {
      return view(findModel((await catalog.load()).models, id));
    },
  };
}

export function toEntryView(model: Model, dependencies: CatalogDependencies): CatalogEntryView {
  const nowMs = dependencies.clock.nowMs();
  const health = dependencies.gateway?.health() ?? [];
  const trouble = whyNotServed(model, nowMs, dependencies.isUsable);
  const {
    routes: _,
    route_list: __,
    ...plain
  } = toModelView({ model, isServed: trouble === undefined, nowMs });
  const needed = billedClasses(model.endpoint, model.input);
  return {
    ...plain,
    endpoint: model.endpoint,
    input: model.input,
    created_at: toDateText(model.createdAtMs),
    context_length: model.contextLength ?? null,
    max_image_tokens: model.maxImageTokens ?? null,
    max_audio_seconds: model.maxAudioSeconds ?? null,
    timeouts: toTimeoutsView(model.timeouts),
    not_served_because: trouble ?? null,
    routes: model.routes.map((route) => toRouteView({ model, route, health, dependencies })),
    coming: model.prices
      .filter(({ effectiveAtMs }) => effectiveAtMs > nowMs)
      .map(({ price, effectiveAtMs }) => ({
        price: price === undefined ? null : toPriceView(price),
        effective_at: toDateText(effectiveAtMs),
      })),
    classes: pricedClasses(model.endpoint, model.input).map((name) => ({
      name,
      needed: needed.includes(name),
    })),
  };
}

function toTimeoutsView(timeouts: Timeouts = {}): TimeoutsView {
  const { connect, firstByte, idle, total } = timeouts;
  return {
    connect: connect ?? null,
    first_byte: firstByte ?? null,
    idle: idle ?? null,
    total: total ?? null,
  };
}

function toRouteView(options: {
  readonly model: Model;
  readonly route: Route;
  readonly health: readonly TargetHealth[];
  readonly dependencies: CatalogDependencies;
}): RouteView {
  const { route, health, dependencies } = options;
  const { provider, model, priority = 1, weight, voices, dimensions, cost } = route;
  const asked = health.find((one) => one.provider === provider && one.model === model);
  return {
    provider,
    model,
    priority,
    weight,
    voices: voices ?? null,
    dimensions: dimensions === undefined ? null : dimensions === "own" ? "own" : "3072",
    cost: cost === undefined ? null : toPriceView(cost),
    cost_in_file: ownsCost(options.model, route),
    state: asked?.state ?? null,
    usable: dependencies.isUsable(route),
  };
}

/** What an operator has to mend before callers can reach it. */
function whyNotServed(
  model: Model,
  nowMs: number,
  isUsable: CatalogDependencies["isUsable"],
): string | undefined {
  if (lifecycleState(model.lifecycle, nowMs) === "retired") return "It is retired.";
  if (model.routes.length === 0) return "It has no route: nobody is asked for it.";
  if (withRoutes(model, isUsable).routes.length === 0)
    return "All its routes lead to the embedded models, which are switched off.";
  const price = priceAt(model, nowMs)?.price;
  if (price === undefined) return "It has no price in force.";
  if (isWhole(model, price)) return undefined;
  const lacking = billedClasses(model.endpoint, model.input).filter((key) => !(key in price));
  return `Its price lacks ${lacking.join(" and ")}, which it is billed by.`;
}
