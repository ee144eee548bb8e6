import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { Mutex } from "../../base/mutex.ts";
import { Problem } from "../../base/problem.ts";
import {
  billedClasses,
  type Endpoint,
  type InputKind,
  pricedClasses,
} from "../../call/endpoint.ts";
import { type VoiceMap, voices } from "../../call/speak.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import {
  engineProvider,
  isWhole,
  type Model,
  priceAt,
  type Route,
  withRoutes,
} from "../../catalog/model.ts";
import type { Audits, Unbound } from "../audit/author.ts";
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
  /** What the vendor asks, where it is known. */
  readonly cost: Readonly<Record<string, string>> | null;
  /** Null where no server runs, or it was not called yet. */
  readonly state: TargetHealth["state"] | null;
  /** False for an embedded model while those are switched off. */
  readonly usable: boolean;
}

export interface CatalogEntryView extends Omit<ModelView, "routes" | "endpoint" | "input"> {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly created_at: string;
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

export interface RouteInput {
  readonly provider: string;
  readonly model: string;
  readonly priority?: number | undefined;
  readonly weight?: number | undefined;
  readonly voices?: VoiceMap | undefined;
}

export interface CatalogOperations {
  /** All models, as the operator sees them. */
  list(input: Record<never, never>): Promise<readonly CatalogEntryView[]>;
  show(input: { id: string }): Promise<CatalogEntryView>;
  /** All routes of a model anew; costs and voices of those that stay are kept. */
  setRoutes(input: { id: string; routes: readonly RouteInput[] }): Promise<CatalogEntryView>;
}

export const catalogAudits = {
  list: null,
  show: null,
  setRoutes: {
    action: "model.routes",
    detail: ({ routes }) => ({
      routes: routes.map(({ provider, model }) => `${provider}/${model}`),
    }),
  },
} satisfies Audits<CatalogOperations>;

export interface CatalogParts {
  readonly catalog: CatalogStore;
  readonly clock: Clock;
  readonly isUsable: (route: Route) => boolean;
  readonly takeEffect: () => Promise<void>;
  readonly gateway?: { health(): readonly TargetHealth[] } | undefined;
}

const mostRoutes = 50;

export function catalogOperations(
  parts: CatalogParts,
): Unbound<CatalogOperations, typeof catalogAudits> {
  const { catalog, clock, takeEffect, gateway } = parts;
  const mutex = new Mutex();
  const view = (model: Model) =>
    toEntryView({ model, nowMs: clock.nowMs(), health: gateway?.health() ?? [], parts });
  return {
    async list() {
      return (await catalog.load()).models.map(view);
    },
    async show({ id }) {
      return view(findModel((await catalog.load()).models, id));
    },
    setRoutes: ({ id, routes: given }, { audit }) =>
      mutex.run(async () => {
        const { models, providers } = await catalog.load();
        const model = findModel(models, id);
        checkRoutes(
          given,
          providers.map(({ name }) => name),
        );
        const routes = given.map((route) => toRoute(model, route));
        await catalog.write(
          { atMs: clock.nowMs(), saveModels: [{ ...model, routes }] },
          audit({ subject: id }),
        );
        await takeEffect();
        return view({ ...model, routes });
      }),
  };
}

function toEntryView(options: {
  readonly model: Model;
  readonly nowMs: number;
  readonly health: readonly TargetHealth[];
  readonly parts: CatalogParts;
}): CatalogEntryView {
  const { model, nowMs, health, parts } = options;
  const trouble = whyNotServed(model, nowMs, parts.isUsable);
  const { routes: _, ...plain } = toModelView({ model, isServed: trouble === undefined, nowMs });
  const needed = billedClasses(model.endpoint, model.input);
  return {
    ...plain,
    endpoint: model.endpoint,
    input: model.input,
    created_at: toDateText(model.createdAtMs),
    not_served_because: trouble ?? null,
    routes: model.routes.map((route) => toRouteView({ route, health, parts })),
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

function toRouteView(options: {
  readonly route: Route;
  readonly health: readonly TargetHealth[];
  readonly parts: CatalogParts;
}): RouteView {
  const { route, health, parts } = options;
  const { provider, model, priority = 1, weight, voices: names, cost } = route;
  const asked = health.find((one) => one.provider === provider && one.model === model);
  return {
    provider,
    model,
    priority,
    weight,
    voices: names ?? null,
    cost: cost === undefined ? null : toPriceView(cost),
    state: asked?.state ?? null,
    usable: parts.isUsable(route),
  };
}

/** What an operator has to mend before callers can reach it. */
function whyNotServed(
  model: Model,
  nowMs: number,
  isUsable: CatalogParts["isUsable"],
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

function checkRoutes(routes: readonly RouteInput[], providers: readonly string[]): void {
  if (routes.length > mostRoutes)
    throw new Problem({
      code: "invalid",
      field: "routes",
      message: `A model has at most ${mostRoutes} routes.`,
    });
  const seen = new Set<string>();
  for (const { provider, model } of routes) {
    if (provider !== engineProvider && !providers.includes(provider))
      throw new Problem({
        code: "invalid",
        field: "routes",
        message: `Unknown provider "${provider}".`,
      });
    if (model.trim() === "")
      throw new Problem({
        code: "invalid",
        field: "routes",
        message: `The route to ${provider} must have the provider's name of the model.`,
      });
    const name = `${provider}/${model}`;
    if (seen.has(name))
      throw new Problem({
        code: "invalid",
        field: "routes",
        message: `There are two routes to ${name}. Keep one.`,
      });
    seen.add(name);
  }
}

/** What was found out of a target stays with it, wherever it stands among the routes. */
function toRoute(model: Model, given: RouteInput): Route {
  const { provider, model: target, priority = 1, weight = 1, voices: names } = given;
  const before = model.routes.find(
    (known) => known.provider === provider && known.model === target,
  );
  const { cost, dimensions } = before ?? {};
  return {
    provider,
    model: target,
    weight,
    ...(priority === 1 ? {} : { priority }),
    ...(cost === undefined ? {} : { cost }),
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(model.endpoint === "speech" ? { voices: voicesOf(names ?? before?.voices, given) } : {}),
  };
}

function voicesOf(names: VoiceMap | undefined, { provider, model }: RouteInput): VoiceMap {
  if (names === undefined)
    throw new Problem({
      code: "invalid",
      field: "routes",
      message: `The route to ${provider}/${model} must map the voices: the same names, or a name for each of ${voices.join(", ")}.`,
    });
  return names;
}
