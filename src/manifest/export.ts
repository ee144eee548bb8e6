import { stringify } from "yaml";
import { toDateText } from "../base/dates.ts";
import { toDecimal } from "../base/decimal.ts";
import { type Price, priceKeys, priceScale } from "../call/price.ts";
import type { CatalogContent } from "../catalog/catalog.ts";
import { type Model, type ProviderEntry, priceAt, type Route } from "../catalog/model.ts";
import { storedMark } from "./plan.ts";

/** The store as svc.yaml; applying it again changes nothing. */
export function exportManifest({ providers, models }: CatalogContent, nowMs: number): string {
  const notes = models.flatMap(lifecycleNote).join("");
  const yaml = stringify(
    {
      providers: Object.fromEntries(
        providers.map((provider) => [provider.name, toProvider(provider)]),
      ),
      models: Object.fromEntries(models.map((model) => [model.id, toModel(model, nowMs)])),
    },
    { flowCollectionPadding: true, lineWidth: 0 },
  );
  return notes + yaml;
}

/** The lifecycle is the store's, not the file's: it is told, so that nobody takes it for lost. */
function lifecycleNote({ id, lifecycle }: Model): string[] {
  const { deprecatedAtMs, retiresAtMs, replacement } = lifecycle;
  if (deprecatedAtMs === undefined) return [];
  const retires = retiresAtMs === undefined ? "" : `, retires ${toDateText(retiresAtMs)}`;
  const since = toDateText(deprecatedAtMs);
  return [
    `# ${id}: deprecated from ${since}${retires}, replaced by ${replacement}; not part of this file\n`,
  ];
}

function toProvider({ kind, baseUrl, apiKey, allowPrivate }: ProviderEntry) {
  return {
    kind,
    base_url: baseUrl,
    ...(apiKey === undefined
      ? {}
      : { api_key: "variable" in apiKey ? `\${${apiKey.variable}}` : storedMark }),
    ...(allowPrivate ? { allow_private: true } : {}),
  };
}

function toModel(model: Model, nowMs: number) {
  const { endpoint, input, ownedBy, routes } = model;
  const { maxOutputTokens, maxImageTokens, maxAudioSeconds } = model;
  const price = priceAt(model, nowMs)?.price;
  return {
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    owned_by: ownedBy,
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(maxImageTokens === undefined ? {} : { max_image_tokens: maxImageTokens }),
    ...(maxAudioSeconds === undefined ? {} : { max_audio_seconds: maxAudioSeconds }),
    ...(price === undefined ? {} : { price: toPriceTexts(price) }),
    ...(routes.length === 0 ? {} : { routes: routes.map(toRoute) }),
  };
}

function toPriceTexts(price: Price): Readonly<Record<string, string>> {
  const pairs = priceKeys.flatMap((key) => {
    const units = price[key];
    return units === undefined ? [] : [[key, toDecimal(units, priceScale(key), 2)] as const];
  });
  return Object.fromEntries(pairs);
}

function toRoute({ provider, model, weight, voices, cost }: Route) {
  return {
    provider,
    model,
    weight,
    ...(voices === undefined ? {} : { voices }),
    ...(cost === undefined ? {} : { cost: toPriceTexts(cost) }),
  };
}
