import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import type { Model } from "../../catalog/model.ts";
import type { ProviderKind } from "../../catalog/provider-kinds.ts";
import type { ModelDraft } from "../../manifest/draft.ts";
import { toPriceView } from "../models/views.ts";
import { findVendorPrice, type ListPrice, priceFor } from "../prices/table.ts";
import type { Proposal } from "./schemas.ts";

/** A model that an upstream offers, by its name there, with the details that it reports. */
export interface OfferedModel {
  readonly id: string;
  readonly endpoint?: Endpoint;
  readonly input?: InputKind;
  readonly maxOutputTokens?: number;
}

/** Models that there are already. One that has no route may have one again: what it is for. */
export type TakenIds = ReadonlyMap<string, KnownUse | undefined>;

interface KnownUse {
  readonly endpoint: string;
  readonly input: string;
  readonly hasPrice: boolean;
}

export function takenIds(models: readonly Model[]): TakenIds {
  return new Map(
    models.flatMap(({ id, aliases = [], endpoint, input, routes, prices }) => [
      [id, routes.length > 0 ? undefined : { endpoint, input, hasPrice: prices.length > 0 }],
      ...aliases.map((alias) => [alias, undefined] as const),
    ]),
  );
}

export interface ProposalOptions {
  /** The provider's name in svc.yaml. */
  readonly provider: string;
  readonly kind: ProviderKind;
  /** The vendor's id, where it is one of the known. */
  readonly vendor: string | undefined;
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  readonly models: readonly OfferedModel[];
  readonly taken: TakenIds;
  readonly nowMs: number;
}

/** What of an upstream's offer can be served, by its own names where these are free. */
export async function proposeModels(options: ProposalOptions): Promise<Proposal[]> {
  const taken = new Map(options.taken);
  const proposals: Proposal[] = [];
  for (const model of options.models) {
    const use = useOf(model);
    const isFree = (id: string) => !taken.has(id) || isSameUse(taken.get(id), use);
    const id = use && freeId(model.id, options.provider, isFree);
    if (use === undefined || id === undefined) continue;
    taken.set(id, undefined);
    proposals.push(await propose({ options, model, id, ...use }));
  }
  return proposals;
}

interface Use {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}

const isSameUse = (one: KnownUse | undefined, other: Use | undefined) =>
  one !== undefined && one.endpoint === other?.endpoint && one.input === other.input;

const otherTrades =
  /moderation|realtime|dall-?e|imagen|(^|[-/])(image|video|veo|sora|flux|ocr|live|aqa)([-.:]|\d|$)|diffusion|rerank|deep-research|computer-use|native-audio|audio-(preview|dialog)|gpt-audio|(babbage|davinci)-002|turbo-instruct/;
const embeds = /embed|(^|[-/])(bge|gte|e5)-|minilm/;
const listens = /whisper|transcri|(^|[-/_])(asr|stt|parakeet|canary)([-.:_]|\d|$)/;
const speaks = /(^|[-/_])(tts|kokoro|orpheus)([-.:_]|\d|$)|text-to-speech/;

/** What the upstream says of a model, else what its name does; undefined: nothing that is served here. */
export function useOf({ id, endpoint, input }: OfferedModel): Use | undefined {
  if (endpoint !== undefined) return { endpoint, input: input ?? "text" };
  const name = id.toLowerCase();
  if (embeds.test(name))
    return { endpoint: "embeddings", input: /multi-?modal/.test(name) ? "media" : "text" };
  if (otherTrades.test(name)) return undefined;
  if (listens.test(name)) return { endpoint: "transcription", input: "text" };
  return { endpoint: speaks.test(name) ? "speech" : "chat", input: "text" };
}

/** Undefined: all names are taken, so it was most likely added before. */
function freeId(
  upstream: string,
  provider: string,
  isFree: (id: string) => boolean,
): string | undefined {
  const name = upstream
    .replace(/^models\//, "")
    .replace(/[^\w.:/@-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "");
  const names = [name, `${provider}/${name}`].filter(
    (each) => name !== "" && each.length <= 128 && isFree(each),
  );
  return names[0];
}

async function propose({
  options,
  model,
  id,
  endpoint,
  input,
}: Use & {
  readonly options: ProposalOptions;
  readonly model: OfferedModel;
  readonly id: string;
}): Promise<Proposal> {
  const { provider } = options;
  const isPriced = options.taken.get(id)?.hasPrice === true;
  const found = await findPrice(options, model.id);
  const { price, cost, notes } = pricesOf(found, { endpoint, input });
  if (isPriced) notes.splice(0, notes.length, "It had no route. Its price is unchanged.");
  if (endpoint === "speech" && options.kind === "openai")
    notes.push("Check that this server supports the voice names in the route.");
  const draft: ModelDraft = {
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    ...(endpoint === "chat" && isCount(model.maxOutputTokens)
      ? { max_output_tokens: model.maxOutputTokens }
      : {}),
    ...(price === null || isPriced ? {} : { price }),
    routes: [
      {
        provider,
        model: model.id,
        ...voicesFor(endpoint, options.kind),
        ...(cost === null ? {} : { cost }),
      },
    ],
  };
  const note = notes.length === 0 ? null : notes.join(" ");
  const list_price = found === undefined ? null : toPriceView(found.price);
  return { id, upstream: model.id, endpoint, input, draft, price, list_price, cost, note };
}

/** What most servers of this kind call their voices. */
const commonVoices = {
  Kore: "nova",
  Puck: "echo",
  Charon: "onyx",
  Fenrir: "fable",
  Aoede: "shimmer",
};

/** A route of a speech model maps our voices to the provider's. */
export const voicesFor = (endpoint: Endpoint, kind: ProviderKind) =>
  endpoint === "speech" ? { voices: kind === "openai" ? commonVoices : "same" } : {};

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 1 && value <= 10_000_000;

interface Prices {
  readonly price: Proposal["price"];
  readonly cost: Proposal["cost"];
  readonly notes: string[];
}

const findPrice = (options: ProposalOptions, model: string) => {
  const { kind, vendor, baseUrl, nowMs } = options;
  return findVendorPrice({ model, vendor, kind, baseUrl, nowMs });
};

function pricesOf(found: ListPrice | undefined, use: Use): Prices {
  const billed = billedClasses(use.endpoint, use.input);
  if (found?.isOwn === true) {
    const price = Object.fromEntries(billed.map((key) => [key, "0"]));
    return { price, cost: null, notes: ["It runs on your own machine. Its price is 0."] };
  }
  const known = found === undefined ? {} : priceFor(found, use);
  const cost = Object.keys(known).length === 0 ? null : toPriceView(known);
  if (billed.every((key) => known[key] !== undefined)) return { price: cost, cost, notes: [] };
  return {
    price: null,
    cost,
    notes: ["No list price found. Set a price to serve this model."],
  };
}
