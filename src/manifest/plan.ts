import { toDateText } from "../base/dates.ts";
import { Problem } from "../base/problem.ts";
import { type Price, priceKeys } from "../call/price.ts";
import { checkNames } from "../catalog/aliases.ts";
import type { CatalogContent, CatalogWrite } from "../catalog/catalog.ts";
import {
  type Model,
  type PriceVersion,
  type ProviderEntry,
  priceAt,
  type Route,
} from "../catalog/model.ts";
import { definedIn, ownsField } from "../catalog/origin.ts";
import { keepPauses, listedKeys, plainSecret } from "../catalog/provider-keys.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { compare, type Difference, modelFields, providerFields, topName } from "./differences.ts";
import { checkKeptLiterals } from "./kept-secrets.ts";
import type { Manifest, ManifestModel } from "./manifest.ts";
import { checkUse, hasSameRoutes, isSeeded, keeper, mergeModel } from "./merge-model.ts";
import { toEntry } from "./provider-entry.ts";
import type { ManifestProvider } from "./read-provider.ts";
import { modelWarnings, providerWarnings, type Warning } from "./warnings.ts";

export interface Plan {
  readonly differences: readonly Difference[];
  readonly warnings: readonly Warning[];
  readonly write: CatalogWrite;
}

export interface PlanOptions {
  readonly manifest: Manifest;
  readonly current: CatalogContent;
  readonly secrets: Secrets;
  /** Whether a variable that the file names is set. */
  readonly hasVariable: (name: string) => boolean;
  readonly nowMs: number;
  /** The file that owns the entries from now on; absent: they are the store's. */
  readonly file?: string | undefined;
  /** Whether the file may take over what it did not create. */
  readonly adopts?: boolean | undefined;
}

/**
 * What an apply would do. With a file the store then matches it: what the file no longer has goes,
 * except models, which become the store's. Without one, entries are created and changed only. What
 * the file does not name, and the fields that it does not state, are left alone.
 */
export function planApply(options: PlanOptions): Plan {
  const { manifest, hasVariable, nowMs, file } = options;
  if (file !== undefined && options.adopts !== true) checkOwners(options, file);
  const gone = goneEntries(options);
  const providers = manifest.providers.map((given) => planProvider(given, options));
  const models = manifest.models.map((given) => planModel(given, options, gone.providers));
  const rest = planRest(options, gone);
  checkAliases(options, [...models, ...rest]);
  const removed = gone.providers.map(
    (name): Difference => ({ action: "remove", kind: "provider", name, fields: [] }),
  );
  const all = [
    ...providers.map(({ difference }) => difference),
    ...models.map(({ difference }) => difference),
    ...rest.map(({ difference }) => difference),
    ...removed,
  ];
  return {
    differences: all.filter(({ action, fields }) => action !== "change" || fields.length > 0),
    warnings: [
      ...providers.flatMap(({ after }) => providerWarnings(after, hasVariable)),
      ...models.flatMap(({ after, price }) => modelWarnings(after, price)),
      ...rest
        .filter(({ after }) => after.routes.length === 0)
        .flatMap(({ after }) => modelWarnings(after, priceAt(after, nowMs)?.price)),
    ],
    write: {
      atMs: nowMs,
      saveProviders: providers.map(({ after }) => after),
      removeProviders: gone.providers,
      saveModels: [...models.map(({ after }) => after), ...rest.map(({ after }) => after)],
      addPrices: models.flatMap(({ after, price, isRepriced, replaced }) => [
        ...(isRepriced ? [newPrice(after, price, nowMs)] : []),
        ...replaced.map((effectiveAtMs) => ({ ...newPrice(after, price, nowMs), effectiveAtMs })),
      ]),
    },
  };
}

/** Of all models as they would be. */
function checkAliases(
  { current }: PlanOptions,
  planned: readonly { readonly after: Model }[],
): void {
  const after = new Map(current.models.map((model) => [model.id, model]));
  for (const { after: model } of planned) after.set(model.id, model);
  checkNames([...after.values()]);
}

/** A name belongs to one file, or to the store. */
function checkOwners({ manifest, current }: PlanOptions, file: string): void {
  const others = [
    ...current.providers
      .filter(({ name }) => manifest.providers.some((given) => given.name === name))
      .map(({ name, origin }) => ({ name: `provider ${name}`, origin })),
    ...current.models
      .filter(({ id }) => manifest.models.some((given) => given.id === id))
      .filter((model) => !isSeeded(model))
      .map(({ id, origin }) => ({ name: `model ${id}`, origin })),
  ].filter(({ origin }) => origin?.file !== file);
  if (others.length === 0) return;
  const names = others.map(({ name, origin }) =>
    origin === undefined ? name : `${name} (${origin.file})`,
  );
  throw new Problem({
    code: "conflict",
    message: `${file} contains entries that it did not create: ${names.join(", ")}. Remove them from the file, or let the file adopt them.`,
    command: `apply ${file} --adopt`,
  });
}

interface Gone {
  readonly providers: readonly string[];
  readonly models: readonly string[];
}

function goneEntries({ manifest, current, file }: PlanOptions): Gone {
  const isOurs = ({ origin }: ProviderEntry | Model) => file !== undefined && origin?.file === file;
  return {
    providers: current.providers
      .filter((one) => isOurs(one) && !manifest.providers.some(({ name }) => name === one.name))
      .map(({ name }) => name),
    models: current.models
      .filter((one) => isOurs(one) && !manifest.models.some(({ id }) => id === one.id))
      .map(({ id }) => id),
  };
}

interface PlannedProvider {
  readonly after: ProviderEntry;
  readonly difference: Difference;
}

function planProvider(given: ManifestProvider, options: PlanOptions): PlannedProvider {
  const { current, secrets, file } = options;
  const { name, stated } = given;
  const before = current.providers.find((one) => one.name === name);
  const keeps = keeper({ before, stated, file });
  const entry = toEntry({ given, before, secrets });
  const { apiKey: _, keys: __, allowPrivate, options: texts = {}, ...rest } = entry;
  const isSameKind = before?.kind === given.kind;
  const kept = Object.entries(before?.options ?? {}).filter(
    ([option]) => isSameKind && texts[option] === undefined && keeps(topName(option)),
  );
  const stored = { ...Object.fromEntries(kept), ...texts };
  const keySource = keeps("api_key") ? before : entry;
  const key = keySource && plainSecret(keySource);
  const listSource = keeps("api_keys") ? before : entry;
  const keys = listSource === undefined ? [] : listedKeys(listSource);
  const origin = file === undefined ? before?.origin : { file, fields: stated };
  const planned: ProviderEntry = {
    ...rest,
    ...(key === undefined ? {} : { apiKey: key }),
    ...(keys.length === 0 ? {} : { keys }),
    allowPrivate: keeps("allow_private") ? before?.allowPrivate === true : allowPrivate,
    ...(Object.keys(stored).length === 0 ? {} : { options: stored }),
    ...(origin === undefined ? {} : { origin }),
  };
  const after = keepPauses(planned, before);
  const compared = compare({
    kind: "provider",
    name,
    before: before && providerFields(before),
    after: providerFields(after),
  });
  const difference = { ...compared, fields: [...compared.fields, ...ownerField(before, options)] };
  if (before !== undefined) checkKeptLiterals({ before, after });
  if (file === undefined && before !== undefined)
    refuseOwned({ subject: `Provider ${name}`, entry: before, changed: difference });
  return { after, difference };
}

interface PlannedModel {
  readonly after: Model;
  readonly price: Price | undefined;
  readonly isRepriced: boolean;
  /** When prices were to take effect that the stated one replaces. */
  readonly replaced: readonly number[];
  readonly difference: Difference;
}

function planModel(
  given: ManifestModel,
  options: PlanOptions,
  goneProviders: readonly string[],
): PlannedModel {
  const { current, nowMs, file } = options;
  const { price: stated, isUnpriced, id } = given;
  const before = current.models.find((one) => one.id === id);
  const priceBefore = before && priceAt(before, nowMs)?.price;
  // A price that is no longer stated stays: without one the model would not be served.
  const price = isUnpriced === true ? undefined : (stated ?? priceBefore);
  const after = mergeModel({ given, before, file, nowMs, goneProviders });
  if (before !== undefined) checkUse({ before, after, all: current.models });
  const isStated = stated !== undefined || isUnpriced === true;
  const scheduled = isStated && file !== undefined ? scheduledPrices(before, nowMs) : [];
  const replaced = scheduled.filter((version) => !isSamePrice(version.price, price));
  const compared = compare({
    kind: "model",
    name: id,
    before: before && modelFields(before, priceBefore),
    after: modelFields(after, price),
  });
  const difference = {
    ...compared,
    fields: [
      ...compared.fields,
      ...replaced.map((version) => scheduledField(version)),
      ...ownerField(before, options),
    ],
  };
  if (file === undefined && before !== undefined) {
    const isSameRoutes = hasSameRoutes(before, after);
    const fields = difference.fields.filter(({ field }) => field !== "routes" || !isSameRoutes);
    refuseOwned({ subject: `Model ${id}`, entry: before, changed: { ...difference, fields } });
  }
  return {
    after,
    price,
    isRepriced: !isSamePrice(priceBefore, price),
    replaced: replaced.map(({ effectiveAtMs }) => effectiveAtMs),
    difference,
  };
}

/** Models that the file does not have: some it had before, some have routes to what goes. */
function planRest(
  { manifest, current, nowMs }: PlanOptions,
  gone: Gone,
): readonly Pick<PlannedModel, "after" | "difference">[] {
  const isGone = ({ provider }: Route) => gone.providers.includes(provider);
  return current.models
    .filter(({ id }) => !manifest.models.some((given) => given.id === id))
    .filter(({ id, routes }) => gone.models.includes(id) || routes.some(isGone))
    .map((before) => {
      const { origin, ...model } = before;
      const isReleased = gone.models.includes(model.id);
      const routes = model.routes.filter((route) => !isGone(route));
      const owned = isReleased || origin === undefined ? {} : { origin };
      const after: Model = { ...model, routes, ...owned };
      const price = priceAt(before, nowMs)?.price;
      const changed = compare({
        kind: "model",
        name: model.id,
        before: modelFields(before, price),
        after: modelFields(after, price),
      });
      const isKept = isReleased && changed.fields.length === 0;
      return { after, difference: isKept ? { ...changed, action: "keep" as const } : changed };
    });
}

function refuseOwned(options: {
  readonly subject: string;
  readonly entry: ProviderEntry | Model;
  readonly changed: Difference;
}): void {
  const { subject, entry, changed } = options;
  const owned = changed.fields
    .map(({ field }) => topName(field))
    .find((field) => ownsField(entry, field));
  if (owned !== undefined && entry.origin !== undefined)
    throw definedIn({
      subject: `${subject}: field ${owned}`,
      file: entry.origin.file,
      field: owned,
    });
}

/** A model's first price is always active, even if the clock is set back. */
const newPrice = ({ id, prices }: Model, price: Price | undefined, nowMs: number) => ({
  modelId: id,
  price,
  effectiveAtMs: prices.length === 0 ? 0 : nowMs,
  createdAtMs: nowMs,
});

/** The newest version of each moment ahead. A price that the file states holds then, too. */
function scheduledPrices(model: Model | undefined, nowMs: number): readonly PriceVersion[] {
  const ahead = (model?.prices ?? []).filter(({ effectiveAtMs }) => effectiveAtMs > nowMs);
  return [...new Map(ahead.map((version) => [version.effectiveAtMs, version])).values()];
}

/** Shows that a file adopts an entry, even if no value changes. */
function ownerField(
  before: ProviderEntry | Model | undefined,
  { file, adopts }: PlanOptions,
): Difference["fields"] {
  if (before === undefined || file === undefined || adopts !== true) return [];
  const from = before.origin?.file;
  return from === file ? [] : [{ field: "owner", from: from ?? "database", to: file }];
}

const scheduledField = ({ effectiveAtMs, price }: PriceVersion) => ({
  field: `price from ${toDateText(effectiveAtMs)}`,
  from: price === undefined ? "none" : "a different price",
  to: "the price in the file",
});

function isSamePrice(one: Price | undefined, other: Price | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return priceKeys.every((key) => one[key] === other[key]);
}
