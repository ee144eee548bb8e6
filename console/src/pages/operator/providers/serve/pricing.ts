import { fromDecimal, toDecimal } from "../../../../../../src/base/decimal.ts";
import {
  billedClasses,
  type Endpoint,
  type InputKind,
  pricedClasses,
} from "../../../../../../src/call/endpoint.ts";
import { markupFactor, withMarkup } from "../../../../../../src/call/markup.ts";
import { type Price, type PriceKey, priceScale } from "../../../../../../src/call/price.ts";
import type { Input, Reply } from "../../../../api.ts";
import { filledTexts, type PriceTexts } from "../../prices/price-fields.tsx";
import { isWhole, type KindTexts, kindName } from "../../prices/price-groups.tsx";

export type Proposal = Reply<"GET /api/providers/:name/offer">["proposals"][number];
type Body = NonNullable<Input<"POST /api/providers/:name/models">["body"]>;
type ServedModel = NonNullable<Body["models"]>[number];

export const pricingModes = ["list", "markup", "free", "own"] as const;
export type PricingMode = (typeof pricingModes)[number];

/** How models are priced that do not say otherwise. */
export interface Pricing {
  readonly mode: Exclude<PricingMode, "own"> | "one";
  /** In percent. */
  readonly markup: string;
  /** Where all have one price: that of each kind of model. */
  readonly prices: KindTexts;
}

/** What was changed of one model. */
export interface RowChange {
  readonly id?: string;
  readonly endpoint?: Endpoint;
  readonly input?: InputKind;
  /** Absent: as for all. */
  readonly mode?: PricingMode;
  readonly markup?: string;
  readonly price?: PriceTexts;
}

export const useOfRow = (proposal: Proposal, change: RowChange) => {
  const endpoint = change.endpoint ?? proposal.endpoint;
  const same = endpoint === proposal.endpoint ? proposal.input : "text";
  return { endpoint, input: change.input ?? same };
};

/** The price for callers as it would be saved; null: none yet. */
export function shownPrice(
  proposal: Proposal,
  change: RowChange,
  usual: Pricing,
): Readonly<Record<string, string>> | null {
  const { endpoint, input } = useOfRow(proposal, change);
  const { mode = usual.mode, markup = usual.markup } = change;
  const billed = billedClasses(endpoint, input);
  if (mode === "free") return Object.fromEntries(billed.map((key) => [key, "0"]));
  if (mode === "own" || mode === "one") {
    const texts = typedPrice(proposal, change, usual);
    return Object.keys(texts).length === 0 ? null : texts;
  }
  const list = listPrice(proposal, { endpoint, input });
  if (!billed.every((key) => list[key] !== undefined)) return null;
  const factor = mode === "markup" ? markupFactor(markup.trim()) : markupFactor("0");
  return factor === undefined ? null : toTexts(withMarkup(list, factor));
}

/** What was typed for one model, or for all models of its kind. */
function typedPrice(proposal: Proposal, change: RowChange, { prices }: Pricing): PriceTexts {
  if (change.mode === "own") return ownPrice(proposal, change);
  return filledTexts(prices[kindName(useOfRow(proposal, change))] ?? {});
}

/** Without classes that were typed before the endpoint was changed. */
function ownPrice(proposal: Proposal, change: RowChange): PriceTexts {
  const { endpoint, input } = useOfRow(proposal, change);
  const names: readonly string[] = pricedClasses(endpoint, input);
  const given = Object.entries(change.price ?? {}).filter(([name]) => names.includes(name));
  return filledTexts(Object.fromEntries(given));
}

/** Whether a price that was to be typed lacks an amount, or has a wrong one. */
export const lacksAmount = (proposal: Proposal, change: RowChange) =>
  change.mode === "own" && !isWhole(useOfRow(proposal, change), ownPrice(proposal, change));

/** A vendor without list prices is priced by hand. */
export function firstPricing(proposals: readonly Proposal[]): Pricing {
  const list = { mode: "list", markup: "20", prices: {} } as const;
  const hasPrices = proposals.some((proposal) => shownPrice(proposal, {}, list) !== null);
  return { ...list, mode: hasPrices ? "markup" : "one" };
}

function listPrice(
  { list_price: texts }: Proposal,
  { endpoint, input }: ReturnType<typeof useOfRow>,
): Price {
  const pairs = pricedClasses(endpoint, input).flatMap((key) => {
    const text = texts?.[key];
    const units = text === undefined ? undefined : fromDecimal(text, priceScale(key));
    return units === undefined ? [] : [[key, units] as const];
  });
  return Object.fromEntries(pairs);
}

const toTexts = (price: Price) =>
  Object.fromEntries(
    Object.entries(price).map(([key, units]) => [
      key,
      toDecimal(units, priceScale(key as PriceKey), 2),
    ]),
  );

/** What is sent for one model. */
export function toServed(proposal: Proposal, change: RowChange, usual: Pricing): ServedModel {
  const { endpoint, input } = useOfRow(proposal, change);
  const { mode = usual.mode, markup = usual.markup } = change;
  const id = (change.id ?? proposal.id).trim();
  return {
    upstream: proposal.upstream,
    id,
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    ...(mode === "free" ? { free: true } : {}),
    ...(mode === "markup" ? { markup: markup.trim() } : {}),
    ...(mode === "own" || mode === "one" ? { price: typedPrice(proposal, change, usual) } : {}),
  };
}
