import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from "@pydantic/genai-prices";
import { fromDecimal } from "../../base/decimal.ts";
import {
  billedClasses,
  type Endpoint,
  type InputKind,
  pricedClasses,
} from "../../call/endpoint.ts";
import { type Price, type PriceKey, priceKeys } from "../../call/price.ts";
import type { ProviderKind } from "../../catalog/provider-kinds.ts";
import { findVendor } from "../../catalog/vendors.ts";

/**
 * Public list prices of vendors, from the table inside @pydantic/genai-prices: as old as that
 * package, and read without the network (its update is only switched on by `updatePrices`).
 * Where a vendor's price depends on something that ours cannot, the dearest is taken, so that one
 * taken over is not below the vendor's; what was left out is told in the notes.
 */
export interface PublicPrice {
  readonly price: Price;
  readonly vendor: string;
  readonly model: string;
  readonly notes: readonly string[];
}

export interface PublicPriceQuery {
  /** As the upstream names it: `gpt-4o-mini`, `models/gemini-2.5-flash`, `anthropic/claude-sonnet-4`. */
  readonly model: string;
  /** The vendor's id, which says whose price it is, wherever its server stands. */
  readonly vendor?: string | undefined;
  readonly kind?: ProviderKind | undefined;
  /** The provider's address, which says it where neither does. */
  readonly baseUrl?: string | undefined;
  readonly nowMs: number;
}

export interface ListPriceQuery extends PublicPriceQuery {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}

export interface ListPrice extends PublicPrice {
  /** It runs on the operator's own machine, at no vendor cost. */
  readonly isOwn: boolean;
}

/** The one way to a price for a model of a provider, by the classes that its calls are billed by. */
export async function findListPrice(query: ListPriceQuery): Promise<ListPrice | undefined> {
  const found = await findVendorPrice(query);
  return found === undefined ? undefined : { ...found, price: priceFor(found, query) };
}

/** By all classes that are known, whatever the model is used for. */
export async function findVendorPrice(query: PublicPriceQuery): Promise<ListPrice | undefined> {
  const { model, vendor = "" } = query;
  if (findVendor(vendor)?.isLocal === true) {
    const price = Object.fromEntries(priceKeys.map((key) => [key, 0n]));
    return { price, vendor, model, notes: [ownMachine], isOwn: true };
  }
  const found = await findPublicPrice(query);
  return found === undefined ? undefined : { ...found, isOwn: false };
}

interface Use {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}

/** The classes of a price that calls of this kind have. */
export function priceFor({ price, isOwn }: ListPrice, { endpoint, input }: Use): Price {
  const classes = new Set<string>(
    isOwn ? billedClasses(endpoint, input) : pricedClasses(endpoint, input),
  );
  return Object.fromEntries(Object.entries(price).filter(([key]) => classes.has(key)));
}

const ownMachine = "runs on your own machine; the price is 0";

type Table = typeof import("@pydantic/genai-prices");

const ourKeys: Readonly<Record<string, PriceKey>> = {
  input_mtok: "input",
  cache_read_mtok: "cached_input",
  cache_write_mtok: "cache_write",
  output_mtok: "output",
  output_audio_mtok: "audio_output",
};

const wordsOfOthers: Readonly<Record<string, string>> = {
  audio_hours: "hours of audio",
  cache_audio_read_mtok: "cached audio input tokens",
  cache_image_read_mtok: "cached image input tokens",
  cache_write_1h_mtok: "one-hour cache writes",
  input_annotated_document_kpages: "pages of annotated documents",
  input_audio_hours: "hours of audio input",
  input_audio_mtok: "audio input tokens",
  input_document_kpages: "pages of documents",
  input_image_mtok: "image input tokens",
  input_text_messages_kcount: "text messages",
  input_video_mtok: "video input tokens",
  output_citation_mtok: "citation tokens",
  output_image_mtok: "image output tokens",
  output_reasoning_mtok: "reasoning tokens at a separate price",
  output_video_mtok: "video output tokens",
  requests_kcount: "each request",
  storage_searches_kcount: "searches in stored files",
  web_searches_kcount: "web searches",
};

/** Undefined when the table does not know the model, or knows no price of it that is like ours. */
export async function findPublicPrice(query: PublicPriceQuery): Promise<PublicPrice | undefined> {
  // Nearly a megabyte, and needed only when an operator asks.
  const table = await import("@pydantic/genai-prices");
  const notes = new Set<string>();
  const found = findModel(table, query);
  // The table knows most models by how their names begin, and so takes new voices for chat models.
  if (found === undefined || (isSpeech(query.model) && !isSpeech(found.model.id))) return undefined;
  const price: Partial<Record<PriceKey, bigint>> = {};
  for (const [key, usd] of dearest(pricesAt(found.model, query.nowMs, notes), notes)) {
    const ours = ourKeys[key];
    if (ours === undefined) {
      const words = wordsOfOthers[key] ?? key.replaceAll("_", " ");
      notes.add(`the vendor also charges for ${words} (not imported)`);
      continue;
    }
    const { nano, isExact } = toNanoPrice(usd);
    if (!isExact)
      notes.add(`the public price of ${usd} USD (${ours}) is rounded up to nine digits`);
    price[ours] = nano;
  }
  speakOutput(found.model.id, price, notes);
  if (Object.keys(price).length === 0) return undefined;
  return { price, vendor: found.provider.id, model: found.model.id, notes: [...notes] };
}

/** The number's shortest decimal text as nano-USD, rounded up when that is finer. */
export function toNanoPrice(usd: number): { readonly nano: bigint; readonly isExact: boolean } {
  const [mantissa = "", exponent = "0"] = String(usd).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  // A number is only written with a negative exponent when it is below 0.000001.
  const zeros = -Number(exponent) - 1;
  const digits = zeros > 0 ? "0".repeat(zeros) + whole + fraction : fraction;
  const nano = fromDecimal(`${zeros > 0 ? "0" : whole}.${digits.slice(0, 9).padEnd(9, "0")}`, 9);
  if (nano === undefined || Number(exponent) > 0) throw new RangeError(`invalid price: ${usd}`);
  const isExact = digits.length <= 9;
  return { nano: isExact ? nano : nano + 1n, isExact };
}

interface Found {
  readonly provider: Provider;
  readonly model: ModelInfo;
}

/** Whose prices the calls of a kind have, where the entry names no vendor. */
const kindVendors: Readonly<Partial<Record<ProviderKind, string>>> = {
  gemini: "gemini",
  vertex: "vertex",
  anthropic: "anthropic",
  bedrock: "bedrock",
};

/**
 * The vendor or the kind decides whose price it is, for a vendor may be called through a proxy;
 * then the address. One that the table does not know may be a machine of the operator's, whatever
 * its models are called: no price. With none of them the name decides.
 */
function findModel(table: Table, query: PublicPriceQuery): Found | undefined {
  const { model, baseUrl, kind } = query;
  const vendor = query.vendor ?? (kind === undefined ? undefined : kindVendors[kind]);
  const bare = model.replace(/^.*models\//, "");
  const slash = bare.indexOf("/");
  const prefix = slash > 0 ? table.findProvider({ providerId: bare.slice(0, slash) }) : undefined;
  const rest = bare.slice(slash + 1);
  const home =
    (vendor === undefined ? undefined : table.findProvider({ providerId: vendor })) ??
    (baseUrl === undefined ? undefined : table.findProvider({ providerApiUrl: baseUrl }));
  const tries: [Provider | undefined, string][] =
    baseUrl === undefined && vendor === undefined
      ? [
          [prefix, rest],
          [table.findProvider({ modelId: model }), model],
          [table.findProvider({ modelId: bare }), bare],
        ]
      : [
          [home, model],
          [home, bare],
          [prefix?.id === home?.id ? home : undefined, rest],
        ];
  for (const [provider, name] of tries) {
    const found = provider && table.calcPrice({}, name, { providerId: provider.id });
    if (found) return found;
  }
  return undefined;
}

/** All that hold at some hour of this day: the last that has begun, and those by hour after it. */
function pricesAt(model: ModelInfo, nowMs: number, notes: Set<string>): readonly ModelPrice[] {
  if (!Array.isArray(model.prices)) return [model.prices];
  const startOf = ({ constraint }: ConditionalPrice) =>
    constraint?.type === "start_date" ? Date.parse(constraint.start_date) : undefined;
  const isByHour = ({ constraint }: ConditionalPrice) => constraint?.type === "time_of_date";
  const today = new Date(nowMs).toISOString().slice(0, 10);
  if (model.prices.some((each) => startOf(each) !== undefined))
    notes.add(`the price changes by date; the price of ${today} is used`);
  for (const each of model.prices) {
    const start = startOf(each);
    if (start !== undefined && start > nowMs)
      notes.add(`the price changes on ${new Date(start).toISOString().slice(0, 10)}`);
  }
  const begun = model.prices.filter((each) => (startOf(each) ?? 0) <= nowMs);
  const inForce = begun.slice(
    Math.max(
      0,
      begun.findLastIndex((each) => !isByHour(each)),
    ),
  );
  if (inForce.some(isByHour)) notes.add("the price changes by time of day; the highest is used");
  return inForce.map(({ prices }) => prices);
}

function dearest(prices: readonly ModelPrice[], notes: Set<string>): Map<string, number> {
  const most = new Map<string, number>();
  for (const [key, price] of prices.flatMap((each) => Object.entries(each))) {
    if (price === undefined) continue;
    const isTiered = typeof price === "object";
    if (isTiered) notes.add("priced by context length; the highest tier is used");
    const all = isTiered ? [price.base, ...price.tiers.map((tier) => tier.price)] : [price];
    most.set(key, Math.max(most.get(key) ?? 0, ...all));
  }
  return most;
}

const isSpeech = (model: string) => /\btts\b/.test(model);

/** The table has the audio of text-to-speech models as plain output; we bill it as audio. */
function speakOutput(
  model: string,
  price: Partial<Record<PriceKey, bigint>>,
  notes: Set<string>,
): void {
  if (!isSpeech(model) || price.output === undefined || price.audio_output !== undefined) return;
  price.audio_output = price.output;
  delete price.output;
  notes.add("a speech model; its output price is used for audio output");
}
