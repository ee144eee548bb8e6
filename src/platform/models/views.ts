import { optionalDate, toDateText } from "../../base/dates.ts";
import { toDecimal } from "../../base/decimal.ts";
import { removedKindWords } from "../../base/removed-kind.ts";
import { billedClasses, pricedClasses } from "../../call/endpoint.ts";
import { type Price, priceKeys, priceScale } from "../../call/price.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import { bestHealth, type TargetHealth } from "../../catalog/health.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import {
  isWhole,
  type Model,
  priceAt,
  type Route,
  type Timeouts,
  withRoutes,
} from "../../catalog/model.ts";
import { type Origin, ownsCost } from "../../catalog/origin.ts";
import { type ModelState, modelState, type TargetState } from "../../catalog/state.ts";
import type { TargetCheckStore } from "../../catalog/target-checks.ts";
import { TargetStates } from "../../catalog/target-states.ts";
import type { SourceView } from "../http/schemas.ts";
import type { CatalogEntryView, ModelView, RouteView } from "./schemas.ts";

/** What models are shown by. */
export interface ModelDependencies {
  readonly isUsable: (route: Route) => boolean;
  readonly targetChecks: TargetCheckStore;
  readonly variable: (name: string) => string | undefined;
  readonly gateway?: { health(): Promise<readonly TargetHealth[]> } | undefined;
}

/** What all models of a list are shown with, read once. */
export async function viewedBy(
  { isUsable, gateway, targetChecks, variable }: ModelDependencies,
  { providers }: Pick<CatalogContent, "providers">,
) {
  const health = await gateway?.health();
  const checks = await targetChecks.list();
  const isSet = (name: string) => (variable(name) ?? "") !== "";
  return { isUsable, states: new TargetStates({ providers, health, checks, isSet }) };
}

export function toSourceView({ origin }: { readonly origin?: Origin }): SourceView {
  return origin === undefined
    ? { kind: "store", file: null, fields: [] }
    : { kind: "file", file: origin.file, fields: origin.fields };
}

interface Shown extends Pick<ModelDependencies, "isUsable"> {
  readonly model: Model;
  readonly nowMs: number;
  readonly states: TargetStates;
}

function toShared(shown: Shown) {
  const { model, nowMs } = shown;
  const { id, aliases = [], endpoint, input, ownedBy, maxOutputTokens, lifecycle } = model;
  const price = priceAt(model, nowMs)?.price;
  return {
    id,
    aliases,
    state: stateOf(shown),
    endpoint,
    input,
    owned_by: ownedBy,
    status: lifecycleState(lifecycle, nowMs),
    served: whyNotServed(shown) === undefined,
    price: price === undefined ? null : toPriceView(price),
    source: toSourceView(model),
    max_output_tokens: maxOutputTokens ?? null,
    deprecated_at: optionalDate(lifecycle.deprecatedAtMs),
    retires_at: optionalDate(lifecycle.retiresAtMs),
    replacement: lifecycle.replacement ?? null,
  };
}

export const toModelView = (shown: Shown): ModelView => ({
  ...toShared(shown),
  routes: shown.model.routes.map(({ provider, model }) => `${provider}/${model}`),
  route_list: shown.model.routes.map(({ provider, model }) => ({ provider, model })),
});

/** In USD: a million tokens, an image, a second of video or audio. */
export function toPriceView(price: Price): Readonly<Record<string, string>> {
  const pairs = priceKeys.flatMap((key) => {
    const units = price[key];
    return units === undefined ? [] : [[key, toDecimal(units, priceScale(key), 2)] as const];
  });
  return Object.fromEntries(pairs);
}

export function toEntryView(shown: Shown): CatalogEntryView {
  const { model, nowMs } = shown;
  const needed = billedClasses(model.endpoint, model.input);
  return {
    ...toShared(shown),
    created_at: toDateText(model.createdAtMs),
    context_length: model.contextLength ?? null,
    max_image_tokens: model.maxImageTokens ?? null,
    max_audio_seconds: model.maxAudioSeconds ?? null,
    timeouts: toTimeoutsView(model.timeouts),
    not_served_because: whyNotServed(shown) ?? null,
    routes: model.routes.map((route) => toRouteView(route, shown)),
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

function toTimeoutsView(timeouts: Timeouts = {}): CatalogEntryView["timeouts"] {
  const { connect, firstByte, idle, total } = timeouts;
  return {
    connect: connect ?? null,
    first_byte: firstByte ?? null,
    idle: idle ?? null,
    total: total ?? null,
  };
}

function stateOf(shown: Shown): ModelState | null {
  const { model, nowMs } = shown;
  return modelState({
    lifecycle: lifecycleState(model.lifecycle, nowMs),
    isPriced: isWhole(model, priceAt(model, nowMs)?.price),
    targets: model.routes.map((route) => routeState(route, shown)),
  });
}

const routeState = (route: Route, { isUsable, states }: Shown): TargetState =>
  isUsable(route) ? states.route(route) : "paused";

function toRouteView(route: Route, shown: Shown): RouteView {
  const { model: of, states, isUsable } = shown;
  const { provider, model, priority = 1, weight, voices, dimensions, cost } = route;
  const health = bestHealth(states.targets(route).flatMap((one) => one.health ?? []));
  return {
    provider,
    model,
    priority,
    weight,
    voices: voices ?? null,
    dimensions: dimensions === undefined ? null : dimensions === "own" ? "own" : "3072",
    cost: cost === undefined ? null : toPriceView(cost),
    cost_in_file: ownsCost(of, route),
    state: routeState(route, shown),
    breaker: health?.state ?? null,
    usable: isUsable(route),
  };
}

/** What an operator has to fix before callers can reach it. */
function whyNotServed({ model, nowMs, isUsable, states }: Shown): string | undefined {
  if (lifecycleState(model.lifecycle, nowMs) === "retired") return "Retired.";
  if (model.routes.length === 0) return "No route. Add one to serve this model.";
  if (withRoutes(model, isUsable).routes.length === 0)
    return "All routes use the embedded models, which are switched off.";
  if (model.routes.every(({ provider }) => states.isRemoved(provider)))
    return `All routes use a provider whose ${removedKindWords.what}. ${removedKindWords.advice}`;
  const price = priceAt(model, nowMs)?.price;
  if (price === undefined) return "No price set.";
  if (isWhole(model, price)) return undefined;
  const lacking = billedClasses(model.endpoint, model.input).filter((key) => !(key in price));
  return `The price for ${lacking.join(" and ")} is missing.`;
}
