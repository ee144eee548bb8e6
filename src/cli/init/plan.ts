import { fromDecimal, toDecimal } from "../../base/decimal.ts";
import { Problem } from "../../base/problem.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import { priceKeys, priceScale } from "../../call/price.ts";
import { engineProvider } from "../../catalog/model.ts";
import { vendors } from "../../catalog/vendors.ts";
import { didYouMean } from "../../config/suggestion.ts";
import type { ManifestDraft } from "../../manifest/draft.ts";
import { type Preset, presetNames, readPreset, variablesOf } from "../../manifest/presets.ts";
import type { ModelView } from "../../platform/models/schemas.ts";
import { isSamePlace, toDraft } from "../../platform/providers/place.ts";
import type { Proposal, ProviderView } from "../../platform/providers/schemas.ts";
import { assume, type Found, vertexLocation } from "./discover.ts";

/** A provider that was chosen, with those of its models that are to be served. */
export interface Connection {
  readonly found: Found;
  readonly models: readonly Proposal[];
}

/** With its current name, or with a free one. */
export function nameWithin(found: Found, providers: readonly ProviderView[]): Found {
  const known = providers.find((view) => isSamePlace(toDraft(view), found.draft));
  if (known !== undefined) return { ...found, name: known.name };
  const isTaken = (name: string) => providers.some((view) => view.name === name);
  let name = found.name;
  for (let count = 2; isTaken(name); count++) name = `${found.name}-${count}`;
  return { ...found, name };
}

/** The named ones, otherwise all that are not shared with other tools. */
export function chooseFound(all: readonly Found[], names: readonly string[]): readonly Found[] {
  if (names.length === 0) return all.filter((one) => !one.isShared && one.problem === undefined);
  const chosen = names.map((name) => {
    const found = all.find((one) => one.name === name || one.vendor === name) ?? assume(name);
    if (found === undefined)
      throw new Problem({
        code: "invalid",
        message: `Unknown provider "${name}".${didYouMean(name, [...all.map((one) => one.name), ...vendors.map(({ id }) => id)])} Found: ${listOf(all.map((one) => one.name))}.`,
        field: "provider",
        command: "provider add --help",
      });
    if (found.problem !== undefined)
      throw new Problem({
        code: "invalid",
        message: `${found.title} cannot be connected: ${found.problem}.`,
        field: "provider",
      });
    return found;
  });
  return [...new Map(chosen.map((found) => [found.name, found])).values()];
}

const listOf = (names: readonly string[]) => (names.length === 0 ? "none" : names.join(", "));

/** No file: all servers of this machine, with all that they offer. */
export const localPreset = "local";

/** The preset with values that fit the variables which are set. */
export function fitPreset(
  name: string,
  options: { readonly variable: (name: string) => string | undefined; readonly factor: bigint },
): Preset {
  const preset = presetNames.find((one) => one === name);
  if (preset === undefined)
    throw new Problem({
      code: "invalid",
      message: `Unknown preset "${name}". Choose ${eitherOf([...presetNames, localPreset])}.`,
      field: "preset",
    });
  const { variable, factor } = options;
  const isSet = (one: string) => (variable(one) ?? "") !== "";
  const key = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"].find(isSet);
  return readPreset(preset, {
    fields: {
      ...(key === undefined ? {} : { google: { api_key: `\${${key}}` } }),
      vertex: { location: vertexLocation(variable).location },
    },
    ...(factor === wholeFactor ? {} : { toPrice: (units) => raise(units, factor) }),
  });
}

/** What becomes of models that a preset has, and the gateway too. */
export interface PresetFate {
  /** Only the embedded models serve them until now. */
  readonly moved: readonly string[];
  /**
   * They have other routes, and stay as they are: two vendors behind one name would be two kinds of
   * vectors at one price.
   */
  readonly stays: readonly string[];
  /** The embedded models go on serving them: no provider of the preset has its key yet. */
  readonly waits: readonly { readonly id: string; readonly variables: readonly string[] }[];
}

export function presetFate(
  preset: Preset | undefined,
  models: readonly Pick<ModelView, "id" | "route_list">[],
  isSet: (variable: string) => boolean,
): PresetFate {
  if (preset === undefined) return { moved: [], stays: [], waits: [] };
  const { providers, models: given } = preset.draft;
  const unsetOf = (id: string) => unsetVariables({ providers, model: given[id], isSet });
  const both = models.filter(({ id }) => Object.hasOwn(given, id));
  const isMoved = ({ route_list: routes }: (typeof models)[number]) =>
    routes.length > 0 && routes.every(({ provider }) => provider === engineProvider);
  const isOther = ({ route_list: routes }: (typeof models)[number]) =>
    routes.some(({ provider }) => !Object.hasOwn(providers, provider));
  const idOf = ({ id }: (typeof models)[number]) => id;
  const moved = both.filter(isMoved).map(idOf);
  return {
    moved: moved.filter((id) => unsetOf(id).length === 0),
    waits: moved
      .map((id) => ({ id, variables: unsetOf(id) }))
      .filter(({ variables }) => variables.length > 0),
    stays: both.filter((one) => isOther(one) && !isMoved(one)).map(idOf),
  };
}

/** The variables without which no route of a model works; none where one route does. */
function unsetVariables(options: {
  readonly providers: ManifestDraft["providers"];
  readonly model: ManifestDraft["models"][string] | undefined;
  readonly isSet: (variable: string) => boolean;
}): readonly string[] {
  const { providers, model, isSet } = options;
  const routes = Array.isArray(model?.["routes"]) ? model["routes"] : [];
  const lacking = routes.map(({ provider }: { readonly provider: string }) =>
    variablesOf(providers[provider] ?? {}).filter((variable) => !isSet(variable)),
  );
  return lacking.some((one) => one.length === 0) ? [] : (lacking[0] ?? []);
}

export const omit = (models: ManifestDraft["models"], ids: readonly string[]) =>
  Object.fromEntries(Object.entries(models).filter(([id]) => !ids.includes(id)));

/** What the chosen providers and models are, in the words of svc.yaml. */
export function draftOf(connections: readonly Connection[], factor: bigint): ManifestDraft {
  const models: Record<string, ManifestDraft["models"][string]> = {};
  for (const { found, models: chosen } of connections)
    for (const { id, draft, price } of chosen) {
      // One name for two vendors would be one price for two costs.
      const name = Object.hasOwn(models, id) ? `${found.name}/${id}` : id;
      models[name] = price === null ? draft : { ...draft, price: raisePrice(price, factor) };
    }
  const providers = connections.map(({ found }) => [found.name, found.draft] as const);
  return { providers: Object.fromEntries(providers), models };
}

/** Never below what was meant: rounded up to the last digit that a price can have. */
export function raisePrice(
  price: Readonly<Record<string, string>>,
  factor: bigint,
): Readonly<Record<string, string>> {
  if (factor === wholeFactor) return price;
  const pairs = priceKeys.flatMap((key) => {
    const units = price[key] === undefined ? undefined : fromDecimal(price[key], priceScale(key));
    return units === undefined ? [] : [[key, toDecimal(raise(units, factor), priceScale(key), 2)]];
  });
  return Object.fromEntries(pairs);
}

const wholeFactor = 100_000_000n;
const raise = (units: bigint, factor: bigint) => (units * factor + wholeFactor - 1n) / wholeFactor;
