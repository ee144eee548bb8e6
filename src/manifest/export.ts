import { stringify } from "yaml";
import { toDateText } from "../base/dates.ts";
import { toDecimal } from "../base/decimal.ts";
import { defined } from "../base/defined.ts";
import { type Price, priceKeys, priceScale } from "../call/price.ts";
import type { CatalogContent } from "../catalog/catalog.ts";
import {
  type Model,
  type ProviderEntry,
  priceAt,
  type Route,
  type StoredOption,
  type Timeouts,
} from "../catalog/model.ts";
import { listedKeys, plainSecret } from "../catalog/provider-keys.ts";
import type { ModelDraft, ProviderDraft } from "./draft.ts";
import { storedMark } from "./literals.ts";

/** The store as svc.yaml; applying it again changes nothing. */
export function exportManifest({ providers, models }: CatalogContent, nowMs: number): string {
  const notes = models.flatMap(lifecycleNote).join("");
  const yaml = stringify(
    {
      providers: Object.fromEntries(
        providers.map((provider) => [provider.name, toProviderDraft(provider)]),
      ),
      models: Object.fromEntries(models.map((model) => [model.id, toModelDraft(model, nowMs)])),
    },
    { flowCollectionPadding: true, lineWidth: 0 },
  );
  return notes + yaml;
}

/** The lifecycle belongs to the store, not to the file; a comment shows it. */
function lifecycleNote({ id, lifecycle }: Model): string[] {
  const { deprecatedAtMs, retiresAtMs, replacement } = lifecycle;
  if (deprecatedAtMs === undefined) return [];
  const retires = retiresAtMs === undefined ? "" : `, retires ${toDateText(retiresAtMs)}`;
  const since = toDateText(deprecatedAtMs);
  return [
    `# ${id}: deprecated from ${since}${retires}, replaced by ${replacement} (not part of this file)\n`,
  ];
}

/** All fields of a provider by their names in svc.yaml; literals as `<stored>`. */
export function toProviderDraft(entry: ProviderEntry): ProviderDraft {
  const { kind, baseUrl, allowPrivate, options = {} } = entry;
  const [apiKey, keys] = [plainSecret(entry), listedKeys(entry)];
  const text = (stored: StoredOption) =>
    "variable" in stored ? `\${${stored.variable}}` : "sealed" in stored ? storedMark : stored.text;
  const texts = Object.entries(options).map(([name, stored]) => [name, text(stored)] as const);
  return {
    kind,
    ...(baseUrl === "" ? {} : { base_url: baseUrl }),
    ...Object.fromEntries(texts),
    ...(apiKey === undefined ? {} : { api_key: text(apiKey) }),
    ...(keys.length === 0
      ? {}
      : {
          api_keys: keys.map(({ name, secret, weight }) => ({
            name,
            key: text(secret),
            ...(weight === 1 ? {} : { weight }),
          })),
        }),
    ...(allowPrivate ? { allow_private: true } : {}),
  };
}

/** All fields of a model by their names in svc.yaml, with the current price. */
export function toModelDraft(model: Model, nowMs: number): ModelDraft {
  const { endpoint, input, ownedBy, routes, aliases = [] } = model;
  const { contextLength, maxOutputTokens, maxImageTokens, maxAudioSeconds, timeouts } = model;
  const price = priceAt(model, nowMs)?.price;
  return {
    ...(aliases.length === 0 ? {} : { aliases }),
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    owned_by: ownedBy,
    ...defined({
      context_length: contextLength,
      max_output_tokens: maxOutputTokens,
      max_image_tokens: maxImageTokens,
      max_audio_seconds: maxAudioSeconds,
      timeouts: timeouts && toTimeouts(timeouts),
      price: price && toPriceTexts(price),
    }),
    ...(routes.length === 0 ? {} : { routes: routes.map(toRouteDraft) }),
  };
}

function toPriceTexts(price: Price): Readonly<Record<string, string>> {
  const pairs = priceKeys.flatMap((key) => {
    const units = price[key];
    return units === undefined ? [] : [[key, toDecimal(units, priceScale(key), 2)] as const];
  });
  return Object.fromEntries(pairs);
}

const toTimeouts = ({ firstByte, ...rest }: Timeouts) =>
  defined({ connect: rest.connect, first_byte: firstByte, idle: rest.idle, total: rest.total });

export const toRouteDraft = ({ cost, ...route }: Route) =>
  defined({
    provider: route.provider,
    model: route.model,
    weight: route.weight,
    priority: route.priority,
    voices: route.voices,
    dimensions: route.dimensions,
    cost: cost && toPriceTexts(cost),
  });
