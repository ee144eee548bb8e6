import { toDecimal } from "../base/decimal.ts";
import { Problem } from "../base/problem.ts";
import { type Price, priceKeys, priceScale } from "../call/price.ts";
import type { CatalogContent, CatalogWrite } from "../catalog/catalog.ts";
import {
  type Model,
  type ProviderEntry,
  priceAt,
  type Route,
  type StoredOption,
  type StoredSecret,
  usualOutputTokens,
} from "../catalog/model.ts";
import { type ProviderKind, providerKindShapes } from "../catalog/provider-kinds.ts";
import { referencedName, type Secrets } from "../secrets/secrets.ts";
import type { Manifest } from "./manifest.ts";
import type { ManifestProvider } from "./read-provider.ts";

/** Stands in an export for a literal that is kept encrypted; an apply leaves that as it is. */
export const storedMark = "<stored>";

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

export interface Plan {
  readonly differences: readonly Difference[];
  readonly warnings: readonly string[];
  readonly write: CatalogWrite;
}

export interface PlanOptions {
  readonly manifest: Manifest;
  readonly current: CatalogContent;
  readonly secrets: Secrets;
  /** Whether a variable that the file names is set. */
  readonly hasVariable: (name: string) => boolean;
  readonly nowMs: number;
}

/** What an apply would do: the store then matches the file, except that no model is ever removed. */
export function planApply({ manifest, current, secrets, hasVariable, nowMs }: PlanOptions): Plan {
  const differences: Difference[] = [];
  const note = (difference: Difference) => {
    if (difference.action !== "change" || difference.fields.length > 0)
      differences.push(difference);
  };
  const providers = manifest.providers.map((given) => {
    const before = current.providers.find(({ name }) => name === given.name);
    const after = toEntry({ given, before, secrets });
    note(
      compare({
        kind: "provider",
        name: given.name,
        before: before && providerFields(before),
        after: providerFields(after),
      }),
    );
    return { before, after };
  });
  const models = manifest.models.map(({ price: told, isUnpriced, ...given }) => {
    const before = current.models.find(({ id }) => id === given.id);
    const priceBefore = before && priceAt(before, nowMs)?.price;
    // A file that says nothing of a price leaves the one that a command has set.
    const price = isUnpriced === true ? undefined : (told ?? priceBefore);
    const after: Model = {
      ...given,
      routes: given.routes.map((route) => withCost(route, before)),
      prices: before?.prices ?? [],
      createdAtMs: before?.createdAtMs ?? nowMs,
      lifecycle: before?.lifecycle ?? {},
    };
    if (before !== undefined) checkUse({ before, after, all: current.models });
    note(
      compare({
        kind: "model",
        name: given.id,
        before: before && modelFields(before, priceBefore),
        after: modelFields(after, price),
      }),
    );
    return { after, price, isRepriced: !isSamePrice(priceBefore, price) };
  });
  const leftModels = current.models.filter(
    ({ id }) => !manifest.models.some((given) => given.id === id),
  );
  const leftProviders = current.providers.filter(
    ({ name }) => !manifest.providers.some((given) => given.name === name),
  );
  const isUsed = ({ name }: ProviderEntry) =>
    leftModels.some(({ routes }) => routes.some(({ provider }) => provider === name));
  for (const { id } of leftModels) note({ action: "keep", kind: "model", name: id, fields: [] });
  for (const provider of leftProviders)
    note({
      action: isUsed(provider) ? "keep" : "remove",
      kind: "provider",
      name: provider.name,
      fields: [],
    });
  return {
    differences,
    warnings: [
      ...providers.flatMap(({ after }) => providerWarnings(after, hasVariable)),
      ...models.flatMap(({ after, price }) => modelWarnings(after, price)),
    ],
    write: {
      atMs: nowMs,
      saveProviders: providers.map(({ after }) => after),
      removeProviders: leftProviders.filter((one) => !isUsed(one)).map(({ name }) => name),
      saveModels: models.map(({ after }) => after),
      addPrices: models
        .filter(({ isRepriced }) => isRepriced)
        .map(({ after, price }) => newPrice(after, price, nowMs)),
    },
  };
}

/** What a command has found out of a vendor's cost stays, where the file says nothing of it. */
function withCost(route: Route, before: Model | undefined): Route {
  if (route.cost !== undefined) return route;
  const known = before?.routes.find(
    ({ provider, model }) => provider === route.provider && model === route.model,
  )?.cost;
  return known === undefined ? route : { ...route, cost: known };
}

function toEntry(options: {
  readonly given: ManifestProvider;
  readonly before: ProviderEntry | undefined;
  readonly secrets: Secrets;
}): ProviderEntry {
  const { given, before, secrets } = options;
  const { apiKey: text, options: texts, ...rest } = given;
  const place = `provider:${given.name}`;
  const apiKey =
    text === undefined ? undefined : toStored({ text, place, before: before?.apiKey, secrets });
  const stored = texts && toOptions({ given, before, secrets });
  return {
    ...rest,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(stored === undefined ? {} : { options: stored }),
  };
}

/** Those that are secrets are kept like keys, each sealed for its own place. */
function toOptions(options: {
  readonly given: ManifestProvider;
  readonly before: ProviderEntry | undefined;
  readonly secrets: Secrets;
}): Readonly<Record<string, StoredOption>> {
  const { given, before, secrets } = options;
  const stored = Object.entries(given.options ?? {}).map(([name, text]) => {
    const variable = referencedName(text);
    if (variable !== undefined) return [name, { variable }] as const;
    if (!isSecretOption(given.kind, name)) return [name, { text }] as const;
    const known = before?.options?.[name];
    const place = optionPlace(given.name, name);
    const sealedBefore = known !== undefined && "sealed" in known ? known : undefined;
    return [name, toStored({ text, place, before: sealedBefore, secrets })] as const;
  });
  return Object.fromEntries(stored);
}

/** What a sealed option is bound to, so that it opens nowhere else. */
export const optionPlace = (provider: string, option: string) => `provider:${provider}:${option}`;

/** What is passed to a package may be anything: it is kept as a secret. */
export function isSecretOption(kind: ProviderKind, name: string): boolean {
  if (name.startsWith("options.")) return true;
  return providerKindShapes[kind].options[name]?.isSecret === true;
}

function toStored(options: {
  readonly text: string;
  readonly place: string;
  readonly before: StoredSecret | undefined;
  readonly secrets: Secrets;
}): StoredSecret {
  const { text, place, before, secrets } = options;
  const variable = referencedName(text);
  if (variable !== undefined) return { variable };
  if (text === storedMark) {
    if (before !== undefined && "sealed" in before) return before;
    throw new Problem({
      code: "invalid",
      message: `${place.replace(":", " ")}: api_key is ${storedMark}, but this store holds none for it. Write the key, or \${NAME} for a variable.`,
    });
  }
  // Sealing the same text again gives other bytes: keep the old ones, so that nothing seems changed.
  if (before !== undefined && "sealed" in before && secrets.open(before.sealed, place) === text)
    return before;
  return { sealed: secrets.seal(text, place) };
}

/** A model that is deprecated, or that replaces one, stays on its endpoint: callers were told so. */
function checkUse(options: {
  readonly before: Model;
  readonly after: Model;
  readonly all: readonly Model[];
}): void {
  const { before, after, all } = options;
  if (before.endpoint === after.endpoint && before.input === after.input) return;
  const replaces = all.some(({ lifecycle }) => lifecycle.replacement === before.id);
  if (before.lifecycle.deprecatedAtMs === undefined && !replaces) return;
  const why = replaces ? "replaces another model" : "is deprecated or retired";
  throw new Problem({
    code: "invalid",
    message: `models.${before.id} ${why}: its endpoint and input cannot change. Give the new model an id of its own.`,
  });
}

type FieldTexts = Readonly<Record<string, string | undefined>>;

function compare(options: {
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

function providerFields(entry: ProviderEntry): FieldTexts {
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

/** A model's first price is in force whatever the clock says: it may be set back by a moment. */
const newPrice = ({ id, prices }: Model, price: Price | undefined, nowMs: number) => ({
  modelId: id,
  price,
  effectiveAtMs: prices.length === 0 ? 0 : nowMs,
  createdAtMs: nowMs,
});

function isSamePrice(one: Price | undefined, other: Price | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return priceKeys.every((key) => one[key] === other[key]);
}

function modelFields(model: Model, price: Price | undefined): FieldTexts {
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

export function providerWarnings(
  { name, apiKey, options = {} }: ProviderEntry,
  hasVariable: (name: string) => boolean,
): string[] {
  return [apiKey, ...Object.values(options)].flatMap((stored) =>
    stored === undefined || !("variable" in stored) || hasVariable(stored.variable)
      ? []
      : [
          `provider ${name}: ${stored.variable} is not set where the gateway runs, so calls to it will fail`,
        ],
  );
}

function modelWarnings(model: Model, price: Price | undefined): string[] {
  const { id, endpoint, routes, maxOutputTokens } = model;
  const lacking = [price === undefined ? "price" : "", routes.length === 0 ? "route" : ""].filter(
    (word) => word !== "",
  );
  if (lacking.length > 0)
    return [
      `model ${id} has no ${lacking.join(" and no ")}: it is not listed and cannot be called`,
    ];
  if (endpoint !== "chat" || maxOutputTokens !== undefined || price?.output === 0n) return [];
  return [
    `model ${id} has no max_output_tokens: where a caller names no limit, answers end after ${usualOutputTokens} tokens`,
  ];
}
