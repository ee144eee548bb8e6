import { fromDecimal } from "../../base/decimal.ts";
import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import { findVendor } from "../../catalog/vendors.ts";
import type { ModelDraft, ProviderDraft } from "../draft.ts";
import type { Entry } from "./entry.ts";
import { dearest, type PriceTexts, shiftDecimal } from "./price.ts";
import type { Remarks, Source } from "./source.ts";
import type { Target } from "./target.ts";

type Voices = "same" | Readonly<Record<string, string>>;

/** As svc.yaml has it. */
export interface RouteDraft {
  readonly provider: string;
  readonly model: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly voices?: Voices;
  readonly cost?: PriceTexts;
}

/** One model of svc.yaml, before fallbacks and aliases. */
interface ModelParts {
  readonly line: number;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly maxOutputTokens: number | undefined;
  readonly timeouts: Readonly<Record<string, number>>;
  readonly price: PriceTexts | undefined;
  readonly routes: readonly RouteDraft[];
}

export type Models = Map<string, ModelParts>;

interface ModelOptions {
  readonly entries: readonly Entry[];
  readonly nameOf: (target: Target) => string;
  readonly remarks: Remarks;
}

/** Entries of one name are the routes of one model. */
export function toModels({ entries, ...rest }: ModelOptions): Models {
  const byName = Map.groupBy(entries, ({ name }) => name);
  return new Map(
    [...byName].map(([name, all]) => [name, toModel(name, { ...rest, entries: all })]),
  );
}

function toModel(name: string, options: ModelOptions): ModelParts {
  const { nameOf, remarks } = options;
  const [first] = options.entries;
  const { endpoint, input, line } = first ?? { endpoint: "chat", input: "text", line: 1 };
  const entries = options.entries.filter((one) => {
    const isAlike = one.endpoint === endpoint && one.input === input;
    if (!isAlike)
      remarks.note(
        one.line,
        `${name} is already defined above for ${endpoint}; this entry is not imported`,
      );
    return isAlike;
  });
  const given = entries.map(({ costs }) => costs).filter((one) => Object.keys(one).length > 0);
  const price = dearest({ costs: given, endpoint, input });
  if (new Set(given.map((costs) => JSON.stringify(costs))).size > 1 && price !== undefined)
    remarks.note(
      line,
      `${name}: its entries have different costs; the highest is used as its price`,
    );
  if (given.length > 0 && price === undefined)
    remarks.note(line, `${name}: some of its costs are missing, so it has no price`);
  const timeouts = entries.map(({ params }) => readTimeouts(params, remarks));
  const bounds = entries.flatMap((entry) => readOutputTokens(entry, remarks) ?? []);
  return {
    line,
    endpoint,
    input,
    maxOutputTokens: endpoint === "chat" && bounds.length > 0 ? Math.min(...bounds) : undefined,
    timeouts: Object.assign({}, ...timeouts.toReversed()),
    price,
    routes: toRoutes({ entries, nameOf, remarks }),
  };
}

/** In the order in which LiteLLM would ask them. */
function toRoutes({ entries, nameOf, remarks }: ModelOptions): readonly RouteDraft[] {
  const byOrder = Map.groupBy(entries, (entry) => readOrder(entry, remarks));
  const levels = [...byOrder].toSorted(([one], [other]) => one - other);
  const routes = levels.flatMap(([, peers], at) => {
    const weights = readWeights(peers, remarks);
    return peers.map((entry, index): RouteDraft => {
      const weight = weights[index] ?? 1;
      return {
        provider: nameOf(entry.target),
        model: entry.target.model,
        ...(at === 0 ? {} : { priority: at + 1 }),
        ...(weight === 1 ? {} : { weight }),
        ...(entry.endpoint === "speech" ? { voices: readVoices(entry, remarks) } : {}),
        ...(Object.keys(entry.costs).length === 0 ? {} : { cost: entry.costs }),
      };
    });
  });
  return routes.filter((route, at) => !routes.slice(0, at).some((one) => isSame(one, route)));
}

const isSame = (one: RouteDraft, other: RouteDraft) =>
  one.provider === other.provider && one.model === other.model;

/** Entries without an order come last where others have one, as LiteLLM asks them last or never. */
function readOrder({ params, info }: Entry, remarks: Remarks): number {
  const source = params.has("order") ? params : info;
  const text = source.text("order");
  if (text !== undefined && /^-?\d{1,9}$/.test(text)) return Number(text);
  if (text !== undefined) remarks.problem(source.line("order"), "order must be a whole number");
  return Number.POSITIVE_INFINITY;
}

/** LiteLLM goes by the first of these that its first entry has, and takes a lack in others for 0. */
const weightFields = ["weight", "rpm", "tpm"] as const;

/** In the same proportion, as whole numbers. */
function readWeights(entries: readonly Entry[], remarks: Remarks): readonly number[] {
  const [first] = entries;
  const field = weightFields.find((name) => first?.params.has(name));
  if (field === undefined || entries.length < 2) return [];
  const weights = entries.map(({ params }) => {
    const text = params.text(field) ?? "0";
    const units = fromDecimal(shiftDecimal(text, 0) ?? "", 6);
    if (units === undefined) remarks.problem(params.line(field), `${field} must be a number`);
    return Number(units ?? 0n);
  });
  const common = weights.reduce(greatestCommon, 0);
  const largest = Math.max(...weights) / common;
  const divisor = common * Math.ceil(largest / 1_000_000);
  return common === 0 ? [] : weights.map((weight) => Math.ceil(weight / divisor));
}

const greatestCommon = (one: number, other: number): number =>
  other === 0 ? one : greatestCommon(other, one % other);

/** Deep, lively, low, firm, light: the nearest that OpenAI's speech models have. */
const openaiVoices = {
  Kore: "nova",
  Puck: "fable",
  Charon: "onyx",
  Fenrir: "echo",
  Aoede: "shimmer",
};

function readVoices({ name, line, target: { fields } }: Entry, remarks: Remarks): Voices {
  if (fields["kind"] === "gemini" || fields["kind"] === "vertex") return "same";
  const isOpenai = fields["vendor"] === "openai" || fields["vendor"] === "azure";
  remarks.note(line, `${name}: check which vendor voices map to the five voice names`);
  return isOpenai ? openaiVoices : "same";
}

/** LiteLLM's timeout is for one call, its stream_timeout for the wait of a streamed one. */
function readTimeouts(source: Source, remarks: Remarks): Readonly<Record<string, number>> {
  const timeouts: Record<string, number> = {};
  for (const [field, name] of [
    ["timeout", "total"],
    ["stream_timeout", "first_byte"],
  ] as const) {
    const text = source.text(field);
    if (text === undefined) continue;
    const seconds = Math.ceil(Number(shiftDecimal(text, 0) ?? 0));
    if (seconds >= 1 && seconds <= 86_400) timeouts[name] = seconds;
    else remarks.problem(source.line(field), `${field} must be a number of seconds up to 86400`);
  }
  return timeouts;
}

/** The model's own bound; else the most that LiteLLM asks for by itself. */
function readOutputTokens({ params, info }: Entry, remarks: Remarks): number | undefined {
  const places = [
    [info, "max_output_tokens"],
    [info, "max_tokens"],
    [params, "max_completion_tokens"],
    [params, "max_tokens"],
  ] as const;
  const texts = places.map(([source, field]) => source.text(field));
  const at = texts.findIndex((text) => text !== undefined);
  const place = places[at];
  if (place === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(texts[at] ?? "")) return Number(texts[at]);
  const [source, field] = place;
  remarks.problem(source.line(field), `${field} must be a whole number of tokens`);
  return undefined;
}

/** Nobody asks money for what one's own servers answer: price 0, where no route leads elsewhere. */
export function priceOwnServers(options: {
  readonly models: Models;
  readonly providers: Readonly<Record<string, ProviderDraft>>;
  readonly remarks: Remarks;
}): void {
  const { models, providers, remarks } = options;
  const isOwn = ({ provider, cost }: RouteDraft) => {
    const vendor = providers[provider]?.["vendor"];
    return cost === undefined && findVendor(String(vendor ?? ""))?.isLocal === true;
  };
  for (const [name, model] of models) {
    if (model.price !== undefined || !model.routes.every(isOwn)) continue;
    const classes = billedClasses(model.endpoint, model.input);
    const price = Object.fromEntries(classes.map((key) => [key, "0"]));
    models.set(name, { ...model, price });
    remarks.note(model.line, `${name} runs on your own machine; its price is 0`);
  }
}

/** The routes of the models that LiteLLM falls back to, behind the model's own. */
export function addFallbacks(models: Models, sections: readonly Source[], remarks: Remarks): void {
  // As they are before any is added: a fallback of a fallback is not one's own.
  const plain = new Map(models);
  const extend = (name: string, others: readonly string[], line: number) => {
    for (const other of others.filter((one) => one !== name)) {
      const model = models.get(name);
      const behind = plain.get(other);
      const isFit = model?.endpoint === behind?.endpoint && model?.input === behind?.input;
      if (model === undefined || behind === undefined || !isFit) {
        remarks.note(
          line,
          `fallback from ${name} to ${other} is not imported: both models must exist and have the same endpoint and input`,
        );
        continue;
      }
      const last = Math.max(...model.routes.map(({ priority = 1 }) => priority));
      const more = behind.routes
        .filter((route) => !model.routes.some((one) => isSame(one, route)))
        .map((route) => ({ ...route, priority: Math.min(100, last + (route.priority ?? 1)) }));
      models.set(name, { ...model, routes: [...model.routes, ...more] });
      remarks.note(
        line,
        `fallback from ${name} to ${other}: its routes are added to ${name} at a lower priority; the price of ${name} applies`,
      );
    }
  };
  for (const section of sections) {
    for (const item of section.items("fallbacks"))
      for (const name of item.names())
        for (const each of name === "*" ? models.keys() : [name])
          extend(each, item.texts(name), item.line(name));
    const general = section.texts("default_fallbacks");
    for (const each of models.keys()) extend(each, general, section.line("default_fallbacks"));
  }
}

/** Another name for a model is a model of its own here, with the same routes and price. */
export function addAliases(models: Models, aliases: Source, remarks: Remarks): void {
  for (const alias of aliases.names()) {
    const target = aliases.text(alias) ?? aliases.inner(alias).text("model") ?? "";
    const line = aliases.line(alias);
    const found = models.get(target);
    if (models.has(alias))
      remarks.note(line, `alias ${alias} is not imported: model "${alias}" already exists`);
    else if (found === undefined)
      remarks.note(line, `alias ${alias} is not imported: model "${target}" does not exist`);
    else {
      models.set(alias, { ...found, line });
      remarks.note(
        line,
        `alias ${alias} becomes a separate model with the routes and the price of ${target}`,
      );
    }
  }
}

export function toModelDraft(parts: ModelParts): ModelDraft {
  const { endpoint, input, maxOutputTokens, timeouts, price, routes } = parts;
  return {
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
    ...(price === undefined ? {} : { price }),
    routes,
  };
}
