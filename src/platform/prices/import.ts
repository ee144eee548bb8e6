import { invalid } from "../../base/problem.ts";
import { billedClasses } from "../../call/endpoint.ts";
import { markupFactor, withMarkup } from "../../call/markup.ts";
import { isTooDear, maxPriceUsd, type Price, priceKeys } from "../../call/price.ts";
import type { CatalogWrite } from "../../catalog/catalog.ts";
import {
  engineProvider,
  type Model,
  type ProviderEntry,
  priceAt,
  type Route,
} from "../../catalog/model.ts";
import { ownsCost, ownsField } from "../../catalog/origin.ts";
import { toPriceView } from "../models/views.ts";
import { vendorOf } from "../providers/views.ts";
import type { ImportView } from "./schemas.ts";
import { findListPrice, type ListPrice } from "./table.ts";

type Place = Pick<ImportView["left"][number], "model" | "route">;

interface ImportOptions {
  readonly models: readonly Model[];
  readonly providers: readonly ProviderEntry[];
  /** In hundred-millionths: 100,000,000 is the price as it stands. */
  readonly factor: bigint;
  readonly replace: boolean;
  readonly nowMs: number;
}

interface ImportPlan extends Omit<ImportView, "applied"> {
  readonly write: Required<Pick<CatalogWrite, "saveModels" | "addPrices">>;
}

/** `20` and `12.5` are percent on top. */
export function readMarkup(text: string, field = "markup"): bigint {
  const factor = markupFactor(text);
  if (factor !== undefined) return factor;
  throw invalid({
    [field]: `Markup must be a percentage to add to the list price, such as 20 or 12.5, not "${text}".`,
  });
}

/** A list price with a markup, within what a price may be. */
export function markedUp(id: string, list: Price, factor: bigint): Price {
  const price = withMarkup(list, factor);
  if (priceKeys.some((key) => isTooDear(key, price[key] ?? 0n)))
    throw invalid({
      markup: `With this markup, a price of ${id} is higher than ${maxPriceUsd} USD. Use a smaller one.`,
    });
  return price;
}

export async function planImport(options: ImportOptions): Promise<ImportPlan> {
  const plan = new Plan(options);
  for (const model of options.models) await plan.add(model);
  return plan.result;
}

type Mutable<T> = T extends readonly (infer Item)[] ? Item[] : never;

class Plan {
  readonly #options: ImportOptions;
  readonly result: {
    readonly [Name in Exclude<keyof ImportPlan, "write">]: Mutable<ImportPlan[Name]>;
  } & {
    readonly write: {
      readonly [Name in keyof ImportPlan["write"]]: Mutable<ImportPlan["write"][Name]>;
    };
  } = { set: [], left: [], unknown: [], notes: [], write: { saveModels: [], addPrices: [] } };

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  async add(model: Model): Promise<void> {
    const found = await Promise.all(model.routes.map((route) => this.#find(model, route)));
    const routes = model.routes.map((route, at) => this.#addCost(model, route, found[at]));
    if (routes.some((route, at) => route !== model.routes[at]))
      this.result.write.saveModels.push({ ...model, routes });
    const isPriced = this.#addPrice(model, found[0]);
    for (const [at, route] of model.routes.entries())
      if (routes[at] !== route || (at === 0 && isPriced))
        for (const note of found[at]?.notes ?? [])
          this.result.notes.push({ model: model.id, route: routeName(route), note });
  }

  async #find(
    { endpoint, input }: Model,
    { provider, model }: Route,
  ): Promise<ListPrice | undefined> {
    // What this machine serves by itself is on no vendor's list.
    if (provider === engineProvider) return undefined;
    const { providers, nowMs } = this.#options;
    const entry = providers.find(({ name }) => name === provider);
    return findListPrice({
      model,
      vendor: entry && vendorOf(entry)?.id,
      kind: entry?.kind,
      baseUrl: entry?.baseUrl,
      endpoint,
      input,
      nowMs,
    });
  }

  #leave(list: "left" | "unknown", { replaceable, ...row }: ImportView["left"][number]): void {
    if (list === "left") this.result.left.push({ ...row, replaceable });
    else this.result.unknown.push(row);
  }

  #addCost(model: Model, route: Route, found: ListPrice | undefined): Route {
    const place: Place = { model: model.id, route: routeName(route) };
    const leave = (list: "left" | "unknown", reason: string, replaceable = false) => {
      this.#leave(list, { ...place, reason, replaceable });
      return route;
    };
    if (route.provider === engineProvider || found?.isOwn === true)
      return leave("left", notKnown(route, true));
    if (model.origin !== undefined && ownsCost(model, route))
      return leave("left", `is defined in ${model.origin.file}`);
    if (route.cost !== undefined && !this.#options.replace)
      return leave("left", "already has a cost", true);
    const cost = found?.price;
    if (found === undefined || cost === undefined || Object.keys(cost).length === 0)
      return leave(
        "unknown",
        `no public price for ${route.model}; set the cost of the route by hand`,
      );
    if (route.cost !== undefined && isSame(route.cost, cost))
      return leave("left", "already has the public cost");
    this.result.set.push({ ...place, price: toPriceView(cost), source: sourceOf(found) });
    return { ...route, cost };
  }

  /** Whether it got one. */
  #addPrice(model: Model, found: ListPrice | undefined): boolean {
    const { factor, replace, nowMs } = this.#options;
    const place: Place = { model: model.id, route: null };
    const [first] = model.routes;
    const before = priceAt(model, nowMs)?.price;
    const leave = (list: "left" | "unknown", reason: string, replaceable = false) => {
      this.#leave(list, { ...place, reason, replaceable });
      return false;
    };
    if (model.origin !== undefined && ownsField(model, "price"))
      return leave("left", `is defined in ${model.origin.file}`);
    if (before !== undefined && !replace) return leave("left", "already has a price", true);
    if (first === undefined) return leave("unknown", "has no route, so there is no public price");
    if (first.provider === engineProvider && before !== undefined)
      return leave("left", notKnown(first));
    if (found === undefined) return leave("unknown", notKnown(first));
    const price = markedUp(model.id, found.price, factor);
    const lacking = billedClasses(model.endpoint, model.input).filter((key) => !(key in price));
    if (lacking.length > 0)
      return leave(
        "unknown",
        `${sourceOf(found)} has no public price for ${lacking.join(" and ")}; set the whole price by hand`,
      );
    if (before !== undefined && isSame(before, price))
      return leave("left", "already has this price");
    this.result.set.push({ ...place, price: toPriceView(price), source: sourceOf(found) });
    const effectiveAtMs = model.prices.length === 0 ? 0 : nowMs;
    this.result.write.addPrices.push({
      modelId: model.id,
      price,
      effectiveAtMs,
      createdAtMs: nowMs,
    });
    return true;
  }
}

const routeName = ({ provider, model }: Route) => `${provider}/${model}`;
const sourceOf = ({ vendor, model }: ListPrice) => `${vendor}/${model}`;

const notKnown = (route: Route, isOwn = route.provider === engineProvider) =>
  isOwn
    ? "served by this machine, so there is no public price"
    : `no public price for ${route.model}; set one by hand`;

function isSame(left: Price, right: Price): boolean {
  return priceKeys.every((key) => left[key] === right[key]);
}
