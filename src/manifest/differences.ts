import { toDecimal } from "../base/decimal.ts";
import { type Price, priceKeys, priceScale } from "../call/price.ts";
import type { Model, ProviderEntry, Route, StoredOption } from "../catalog/model.ts";
import { storedMark } from "./literals.ts";

export interface Difference {
  readonly action: "create" | "change" | "remove" | "keep";
  readonly kind: "provider" | "model";
  readonly name: string;
  readonly fields: readonly {
    readonly field: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
}

/** `price.input` belongs to `price`, an option of a package to `options`. */
export const topName = (field: string) => field.split(".")[0] ?? field;

type FieldTexts = Readonly<Record<string, string | undefined>>;

export function compare(options: {
  readonly kind: Difference["kind"];
  readonly name: string;
  readonly before: FieldTexts | undefined;
  readonly after: FieldTexts;
}): Difference {
  const { kind, name, before, after } = options;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const fields = names
    .filter((field) => before?.[field] !== after[field])
    .map((field) => ({
      field,
      from: shown(before?.[field]),
      to: shown(after[field]),
    }));
  return { action: before === undefined ? "create" : "change", kind, name, fields };
}

/** A literal key is compared by its sealed form and never shown. */
const sealedMark = "sealed:";

function shown(text: string | undefined): string | null {
  if (text === undefined) return null;
  return text.startsWith(sealedMark) ? storedMark : text;
}

export function providerFields(entry: ProviderEntry): FieldTexts {
  const { kind, baseUrl, apiKey, allowPrivate, options = {} } = entry;
  const text = (stored: StoredOption) =>
    "variable" in stored
      ? `\${${stored.variable}}`
      : "sealed" in stored
        ? `${sealedMark}${stored.sealed}`
        : stored.text;
  const key = apiKey === undefined ? undefined : text(apiKey);
  const others = Object.entries(options).map(([name, stored]) => [name, text(stored)] as const);
  return {
    kind,
    base_url: baseUrl,
    api_key: key,
    allow_private: allowPrivate ? "true" : undefined,
    ...Object.fromEntries(others),
  };
}

export function modelFields(model: Model, price: Price | undefined): FieldTexts {
  const prices = priceKeys.map((key) => {
    const units = price?.[key];
    return [
      `price.${key}`,
      units === undefined ? undefined : toDecimal(units, priceScale(key)),
    ] as const;
  });
  return {
    endpoint: model.endpoint,
    input: model.endpoint === "embeddings" ? model.input : undefined,
    owned_by: model.ownedBy,
    context_length: model.contextLength?.toString(),
    max_output_tokens: model.maxOutputTokens?.toString(),
    max_image_tokens: model.maxImageTokens?.toString(),
    max_audio_seconds: model.maxAudioSeconds?.toString(),
    timeouts: timeoutsText(model),
    ...Object.fromEntries(prices),
    routes: model.routes.map(routeText).join(", "),
  };
}

function timeoutsText({ timeouts = {} }: Model): string | undefined {
  const texts = Object.entries(timeouts).map(
    ([name, seconds]) => `${name === "firstByte" ? "first_byte" : name} ${seconds} s`,
  );
  return texts.length === 0 ? undefined : texts.join(", ");
}

function routeText(route: Route): string {
  const { provider, model, weight, priority = 1, voices, dimensions, cost } = route;
  const names = voices === undefined || voices === "same" ? [] : Object.entries(voices);
  const mapped =
    names.length === 0 ? "" : ` (${names.map(([ours, theirs]) => `${ours}=${theirs}`).join(", ")})`;
  const asked = priceKeys.flatMap((key) => {
    const units = cost?.[key];
    return units === undefined ? [] : [`${key} ${toDecimal(units, priceScale(key))}`];
  });
  const costs = asked.length === 0 ? "" : ` (costs ${asked.join(", ")})`;
  const rank = priority === 1 ? "" : ` at priority ${priority}`;
  const length = dimensions === undefined ? "" : ` (dimensions ${dimensions})`;
  const share = weight === 1 ? "" : ` ×${weight}`;
  return `${provider}/${model}${share}${rank}${mapped}${length}${costs}`;
}
