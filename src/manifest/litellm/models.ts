import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import { findVendor } from "../../catalog/vendors.ts";
import type { ModelDraft, ProviderDraft } from "../draft.ts";
import type { Entry } from "./entry.ts";
import type { ProviderNames } from "./names.ts";
import { dearest, type PriceTexts, shiftDecimal } from "./price.ts";
import { type RouteDraft, toRoutes } from "./routes.ts";
import type { Remarks, Source } from "./source.ts";

/** One model of svc.yaml, before fallbacks and aliases. */
export interface ModelParts {
  readonly line: number;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly maxOutputTokens: number | undefined;
  readonly timeouts: Readonly<Record<string, number>>;
  readonly price: PriceTexts | undefined;
  readonly routes: RouteDraft[];
}

export function toModels(options: {
  readonly entries: readonly Entry[];
  readonly nameOf: ProviderNames;
  /** Those that hold for every model. */
  readonly timeouts: Readonly<Record<string, number>>;
  readonly remarks: Remarks;
}): Map<string, ModelParts> {
  const { entries, nameOf, timeouts, remarks } = options;
  const names = [...new Set(entries.map(({ name }) => name))];
  return new Map(
    names.map((name) => {
      const all = entries.filter((entry) => entry.name === name);
      const alike = ofOneUse(all, remarks);
      return [name, toModel({ name, entries: alike, nameOf, timeouts, remarks })];
    }),
  );
}

function ofOneUse(entries: readonly Entry[], remarks: Remarks): readonly Entry[] {
  const [first] = entries;
  return entries.filter(({ name, line, endpoint, input }) => {
    const isAlike = endpoint === first?.endpoint && input === first.input;
    if (!isAlike)
      remarks.note(line, `${name} is for ${first?.endpoint} above: this entry is not taken over`);
    return isAlike;
  });
}

function toModel(options: {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly nameOf: ProviderNames;
  readonly timeouts: Readonly<Record<string, number>>;
  readonly remarks: Remarks;
}): ModelParts {
  const { name, entries, nameOf, remarks } = options;
  const [first] = entries;
  const { endpoint, input, line } = first ?? { endpoint: "chat", input: "text", line: 1 };
  const told = entries.map(({ costs }) => costs).filter((one) => Object.keys(one).length > 0);
  const price = dearest({ costs: told, endpoint, input });
  if (new Set(told.map((costs) => JSON.stringify(costs))).size > 1 && price !== undefined)
    remarks.note(line, `${name}: its entries cost different amounts: the dearest is its price`);
  if (told.length > 0 && price === undefined)
    remarks.note(line, `${name}: its costs are not all there, so that it has no price`);
  const own = entries.map(({ params }) => readTimeouts(params, remarks));
  return {
    line,
    endpoint,
    input,
    maxOutputTokens: readOutputTokens({ name, entries, endpoint, remarks }),
    timeouts: { ...options.timeouts, ...Object.assign({}, ...own.toReversed()) },
    price,
    routes: toRoutes({ entries, nameOf, remarks }),
  };
}

/** Nobody asks money for what one's own servers answer: price 0, where no route leads elsewhere. */
export function priceOwnServers(options: {
  readonly models: Map<string, ModelParts>;
  readonly providers: Readonly<Record<string, ProviderDraft>>;
  readonly remarks: Remarks;
}): void {
  const { models, providers, remarks } = options;
  const isOwn = ({ provider, cost }: RouteDraft) => {
    const vendor = providers[provider]?.["vendor"];
    const isLocal = typeof vendor === "string" && findVendor(vendor)?.isLocal === true;
    return isLocal && cost === undefined;
  };
  for (const [name, model] of models) {
    if (model.price !== undefined || !model.routes.every(isOwn)) continue;
    const classes = billedClasses(model.endpoint, model.input);
    const price = Object.fromEntries(classes.map((key) => [key, "0"]));
    models.set(name, { ...model, price });
    remarks.note(model.line, `${name} runs on your own machine: price 0`);
  }
}

/** LiteLLM's timeout is for one call, its stream_timeout for the wait of a streamed one. */
const timeoutFields = { timeout: "total", stream_timeout: "first_byte" } as const;

export function readTimeouts(
  source: Source,
  remarks: Remarks,
  fields: Readonly<Record<string, string>> = timeoutFields,
): Readonly<Record<string, number>> {
  const timeouts: Record<string, number> = {};
  for (const [field, name] of Object.entries(fields)) {
    const text = source.text(field);
    if (text === undefined) continue;
    const plain = shiftDecimal(text, 0);
    const seconds = plain === undefined ? 0 : Math.ceil(Number(plain));
    if (seconds >= 1 && seconds <= 86_400) timeouts[name] = seconds;
    else remarks.problem(source.line(field), `${field} must be a number of seconds up to 86400`);
  }
  return timeouts;
}

/** The model's own bound; else the most that LiteLLM asks for by itself. The smallest of several. */
function readOutputTokens(options: {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly endpoint: Endpoint;
  readonly remarks: Remarks;
}): number | undefined {
  const { name, entries, endpoint, remarks } = options;
  const found = entries.flatMap(({ params, info }) => {
    const places = [
      [info, "max_output_tokens"],
      [info, "max_tokens"],
      [params, "max_completion_tokens"],
      [params, "max_tokens"],
    ] as const;
    const told = places.filter(([source, field]) => source.has(field));
    const values = told.map(([source, field]) => {
      const text = source.text(field) ?? "";
      const value = /^\d{1,8}$/.test(text) ? Number(text) : 0;
      if (value < 1 || value > 10_000_000)
        remarks.problem(source.line(field), `${field} must be a whole number of tokens`);
      return { value, field, source, isOwn: source === info };
    });
    return values.slice(0, 1);
  });
  const [smallest] = found.toSorted((one, other) => one.value - other.value);
  if (smallest === undefined || endpoint !== "chat") return undefined;
  if (!smallest.isOwn)
    remarks.note(
      smallest.source.line(smallest.field),
      `${name}: ${smallest.field} becomes max_output_tokens: callers cannot ask for more`,
    );
  return smallest.value;
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
