import { invalid, Problem } from "../../base/problem.ts";
import { billedClasses } from "../../call/endpoint.ts";
import type { Price } from "../../call/price.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import { engineProvider, type Model, type ProviderEntry, priceAt } from "../../catalog/model.ts";
import { ownsField } from "../../catalog/origin.ts";
import { findModel } from "../input/values.ts";
import { toPriceView } from "../models/views.ts";
import { vendorOf } from "../providers/views.ts";
import { markedUp, readMarkup } from "./import.ts";
import { readPrice } from "./read-price.ts";
import type { BulkInput, BulkView, KindPrice } from "./schemas.ts";
import { findListPrice } from "./table.ts";

export interface BulkPlan extends Pick<BulkView, "changes" | "skipped"> {
  readonly prices: readonly { readonly model: Model; readonly price: Price }[];
}

type BulkPricing = Pick<BulkInput, "price" | "prices" | "markup" | "free">;

/** What one way of pricing makes of many models. */
export async function planBulk(
  input: BulkPricing & Pick<BulkInput, "models">,
  content: CatalogContent,
  nowMs: number,
): Promise<BulkPlan> {
  const priced = pricer(input, content.providers, nowMs);
  const plan = {
    prices: [] as { model: Model; price: Price }[],
    changes: [] as BulkView["changes"][number][],
    skipped: [] as BulkView["skipped"][number][],
  };
  for (const id of new Set(input.models)) {
    const model = findModel(content.models, id);
    if (model.origin !== undefined && ownsField(model, "price")) {
      plan.skipped.push({ model: id, reason: `is defined in ${model.origin.file}` });
      continue;
    }
    const price = await priced(model);
    if (price === undefined) {
      plan.skipped.push({ model: id, reason: "has no known list price" });
      continue;
    }
    const before = priceAt(model, nowMs)?.price;
    plan.prices.push({ model, price });
    plan.changes.push({
      model: id,
      before: before === undefined ? null : toPriceView(before),
      after: toPriceView(price),
    });
  }
  return plan;
}

/** Undefined: no list price is known. */
function pricer(
  { price, prices, markup, free }: BulkPricing,
  providers: readonly ProviderEntry[],
  nowMs: number,
): (model: Model) => Promise<Price | undefined> {
  const given = [price, prices, markup, free === true ? free : undefined];
  if (given.filter((one) => one !== undefined).length !== 1)
    throw invalid({ price: "Set one of price, prices, markup and free." });
  if (price !== undefined) return async (model) => fitting(model, { price, field: "price" });
  if (prices !== undefined) return byKind(prices);
  if (markup === undefined)
    return async ({ endpoint, input }) =>
      Object.fromEntries(billedClasses(endpoint, input).map((key) => [key, 0n]));
  const factor = readMarkup(markup);
  return async (model) => {
    const list = await listPriceOf(model, providers, nowMs);
    return list === undefined ? undefined : markedUp(model.id, list, factor);
  };
}

interface PlacedPrice {
  readonly price: NonNullable<BulkInput["price"]>;
  /** Where it stands in the request. */
  readonly field: string;
}

/** One price for all fits only models that are billed by the same classes. */
function fitting(model: Model, { price, field }: PlacedPrice): Price {
  try {
    return readPrice(model, price);
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    throw new Problem({
      code: error.code,
      message: error.message,
      field: `${field}.${error.field}`,
    });
  }
}

const kindOf = ({ endpoint, input = "text" }: Pick<KindPrice, "endpoint" | "input">) =>
  endpoint === "embeddings" ? `${input} embeddings` : endpoint;

function byKind(prices: readonly KindPrice[]): (model: Model) => Promise<Price> {
  const placed = new Map<string, PlacedPrice>();
  for (const [at, one] of prices.entries()) {
    const kind = kindOf(one);
    if (placed.has(kind))
      throw invalid({ [`prices.${at}.endpoint`]: `There are two prices for ${kind}. Remove one.` });
    placed.set(kind, { price: one.price, field: `prices.${at}.price` });
  }
  return async (model) => {
    const kind = kindOf(model);
    const found = placed.get(kind);
    if (found === undefined)
      throw invalid({ prices: `${model.id} needs a price for ${kind}. Add one to prices.` });
    return fitting(model, found);
  };
}

/** Of its first route; undefined where it lacks a class that the model is billed by. */
async function listPriceOf(
  { endpoint, input, routes }: Model,
  providers: readonly ProviderEntry[],
  nowMs: number,
): Promise<Price | undefined> {
  const [first] = routes;
  if (first === undefined || first.provider === engineProvider) return undefined;
  const entry = providers.find(({ name }) => name === first.provider);
  const found = await findListPrice({
    model: first.model,
    vendor: entry && vendorOf(entry)?.id,
    kind: entry?.kind,
    baseUrl: entry?.baseUrl,
    endpoint,
    input,
    nowMs,
  });
  const isWhole = billedClasses(endpoint, input).every((key) => found?.price[key] !== undefined);
  return isWhole ? found?.price : undefined;
}
