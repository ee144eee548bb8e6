import { defined } from "../base/defined.ts";
import { Problem } from "../base/problem.ts";
import {
  engineProvider,
  type Model,
  type ProviderEntry,
  type Route,
  seededModels,
} from "../catalog/model.ts";
import { ownsCost, ownsField } from "../catalog/origin.ts";
import type { ManifestModel } from "./manifest.ts";

/** A model with all fields as given; prices, lifecycle and origin are those that it has. */
export function replaceModel(options: {
  readonly given: ManifestModel;
  readonly before: Model;
  readonly all: readonly Model[];
}): Model {
  const { given, before, all } = options;
  const { createdAtMs: nowMs } = before;
  const stated = [...given.stated, ...Object.values(optionalFields), "input", "owned_by", "routes"];
  const after = mergeModel({
    given: { ...given, stated },
    before,
    file: undefined,
    nowMs,
    goneProviders: [],
    isWhole: true,
  });
  checkUse({ before, after, all });
  return after;
}

/** A model with the stated fields; other fields stay. */
export function mergeModel(options: {
  readonly given: ManifestModel;
  readonly before: Model | undefined;
  readonly file: string | undefined;
  readonly nowMs: number;
  readonly goneProviders: readonly string[];
  /** Routes have the costs that are given and no others. */
  readonly isWhole?: true;
}): Model {
  const { given, before, file, nowMs, goneProviders, isWhole = false } = options;
  const { price: _price, isUnpriced: _isUnpriced, stated, ...fields } = given;
  // What the gateway set for its embedded model says nothing of another target.
  const isOther = file !== undefined && before !== undefined && isSeeded(before);
  const keeps = keeper({ before: isOther ? undefined : before, stated, file });
  const pick = <Name extends keyof typeof optionalFields>(name: Name) =>
    keeps(optionalFields[name]) ? before?.[name] : fields[name];
  const { id, endpoint } = given;
  const { contextLength: _c, maxOutputTokens: _o, maxImageTokens: _i, ...rest } = fields;
  const { maxAudioSeconds: _s, timeouts: _t, aliases: _a, ...plain } = rest;
  const routes = keeps("routes")
    ? (before?.routes ?? []).filter(({ provider }) => !goneProviders.includes(provider))
    : isWhole
      ? given.routes
      : given.routes.map((route) => withCost(route, before));
  const costs = given.routes
    .filter(({ cost }) => cost !== undefined)
    .map(({ provider, model }) => ({ provider, model }));
  const origin = file === undefined ? before?.origin : { file, fields: stated, costs };
  return {
    ...plain,
    id,
    endpoint,
    input: keeps("input") && before?.endpoint === endpoint ? before.input : given.input,
    ownedBy: keeps("owned_by") && before !== undefined ? before.ownedBy : given.ownedBy,
    ...defined({
      aliases: pick("aliases"),
      contextLength: pick("contextLength"),
      maxOutputTokens: pick("maxOutputTokens"),
      maxImageTokens: pick("maxImageTokens"),
      maxAudioSeconds: pick("maxAudioSeconds"),
      timeouts: pick("timeouts"),
      origin,
    }),
    routes,
    prices: before?.prices ?? [],
    createdAtMs: before?.createdAtMs ?? nowMs,
    lifecycle: before?.lifecycle ?? {},
  };
}

const optionalFields = {
  aliases: "aliases",
  contextLength: "context_length",
  maxOutputTokens: "max_output_tokens",
  maxImageTokens: "max_image_tokens",
  maxAudioSeconds: "max_audio_seconds",
  timeouts: "timeouts",
} as const satisfies Partial<Record<keyof Model, string>>;

/** A cost that the file does not state stays as it is. */
function withCost(route: Route, before: Model | undefined): Route {
  if (route.cost !== undefined) return route;
  const known = before?.routes.find(
    ({ provider, model }) => provider === route.provider && model === route.model,
  )?.cost;
  return known === undefined ? route : { ...route, cost: known };
}

/** Whether a field stays as it is: it is not stated, and was not stated by this file before. */
export function keeper(options: {
  readonly before: ProviderEntry | Model | undefined;
  readonly stated: readonly string[];
  readonly file: string | undefined;
}): (field: string) => boolean {
  const { before, stated, file } = options;
  if (before === undefined) return () => false;
  const wasOurs = file !== undefined && before.origin?.file === file;
  return (field) => !stated.includes(field) && !(wasOurs && ownsField(before, field));
}

/** Added by the gateway at the first start; a file may take it over without --adopt. */
export const isSeeded = ({ id, routes, origin }: Model) =>
  origin === undefined &&
  seededModels.some((seeded) => seeded === id) &&
  routes.length > 0 &&
  routes.every(({ provider }) => provider === engineProvider);

/** The same targets in the same way; only costs that the file does not state may differ. */
export function hasSameRoutes(before: Model, after: Model): boolean {
  const plain = ({ cost, ...route }: Route) =>
    ownsCost(before, route) ? { ...route, cost } : route;
  return Bun.deepEquals(before.routes.map(plain), after.routes.map(plain));
}

/** A model that is deprecated, or that replaces one, stays on its endpoint: callers were told so. */
export function checkUse(options: {
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
    message: `models.${before.id} ${why}, so its endpoint and input cannot change. Use another id for the new model.`,
  });
}
