import { toDecimal } from "../base/decimal.ts";
import { type Price, type PriceKey, priceKeys, priceScale } from "../call/price.ts";
import type { Model, ProviderEntry, Route, StoredOption } from "../catalog/model.ts";
import { listedKeys, plainSecret } from "../catalog/provider-keys.ts";
import { isRecord } from "./draft.ts";
import { toModelDraft } from "./export.ts";
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
  const { kind, baseUrl, allowPrivate, options = {} } = entry;
  const [apiKey, keys] = [plainSecret(entry), listedKeys(entry)];
  const text = (stored: StoredOption) =>
    "variable" in stored
      ? `\${${stored.variable}}`
      : "sealed" in stored
        ? `${sealedMark}${stored.sealed}`
        : stored.text;
  return {
    kind,
    base_url: baseUrl,
    api_key: apiKey && text(apiKey),
    ...Object.fromEntries(
      keys.flatMap(({ name, secret, weight }) => [
        [`api_keys.${name}`, text(secret)],
        [`api_keys.${name}.weight`, weight === 1 ? undefined : String(weight)],
      ]),
    ),
    allow_private: allowPrivate ? "true" : undefined,
    ...Object.fromEntries(Object.entries(options).map(([name, one]) => [name, text(one)])),
  };
}

export function modelFields(model: Model, price: Price | undefined): FieldTexts {
  const draft = toModelDraft(model, 0);
  const { timeouts } = draft;
  const texts = plainFields.map(
    (name) => [name, draft[name] === undefined ? undefined : String(draft[name])] as const,
  );
  const prices = priceKeys.map((key) => [`price.${key}`, priceText(price, key)] as const);
  return {
    aliases: model.aliases?.join(", "),
    ...Object.fromEntries(texts),
    timeouts: isRecord(timeouts)
      ? Object.entries(timeouts)
          .map(([name, seconds]) => `${name} ${seconds} s`)
          .join(", ")
      : undefined,
    ...Object.fromEntries(prices),
    routes: model.routes.map(routeText).join(", "),
  };
}

/** In the order in which they are shown. */
const plainFields = [
  "endpoint",
  "input",
  "owned_by",
  "context_length",
  "max_output_tokens",
  "max_image_tokens",
  "max_audio_seconds",
] as const;

function priceText(price: Price | undefined, key: PriceKey): string | undefined {
  const units = price?.[key];
  return units === undefined ? undefined : toDecimal(units, priceScale(key));
}

function routeText(route: Route): string {
  const { provider, model, weight, priority = 1, voices, dimensions, cost } = route;
  const names = voices === undefined || voices === "same" ? [] : Object.entries(voices);
  const mapped =
    names.length === 0 ? "" : ` (${names.map(([ours, theirs]) => `${ours}=${theirs}`).join(", ")})`;
  const asked = priceKeys.flatMap((key) => {
    const text = priceText(cost, key);
    return text === undefined ? [] : [`${key} ${text}`];
  });
  const costs = asked.length === 0 ? "" : ` (costs ${asked.join(", ")})`;
  const rank = priority === 1 ? "" : ` at priority ${priority}`;
  const length = dimensions === undefined ? "" : ` (dimensions ${dimensions})`;
  const share = weight === 1 ? "" : ` ×${weight}`;
  return `${provider}/${model}${share}${rank}${mapped}${length}${costs}`;
}
