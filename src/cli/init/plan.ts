import { fromDecimal, toDecimal } from "../../base/decimal.ts";
import { Problem } from "../../base/problem.ts";
import { parseYaml } from "../../base/yaml.ts";
import { priceKeys, priceScale } from "../../call/price.ts";
import { engineProvider } from "../../catalog/model.ts";
import {
  addToManifest,
  type Edited,
  type ManifestDraft,
  withoutModels,
} from "../../manifest/edit.ts";
import { type Preset, presetNames, readPreset } from "../../manifest/presets.ts";
import type { ModelView } from "../../platform/models/views.ts";
import { isSamePlace } from "../../platform/providers/place.ts";
import type { KnownModel, Proposal } from "../../platform/providers/proposal.ts";
import { assume, type Found, vertexLocation } from "./discover.ts";

/** A provider that was chosen, with those of its models that are to be served. */
export interface Connection {
  readonly found: Found;
  readonly models: readonly Proposal[];
}

/** What a file has already. */
export interface Present {
  readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly models: readonly KnownModel[];
  /** Who serves each model, by the providers' names. */
  readonly servers: ReadonlyMap<string, readonly string[]>;
  /** As `provider/model`. */
  readonly routes: ReadonlySet<string>;
}

export function readPresent(text: string): Present {
  const root: unknown = parseYaml(text).document.toJS();
  const section = (name: string) => entriesOf(isRecord(root) ? root[name] : undefined);
  const models = section("models");
  const routes = models.flatMap(([, model]) => routesOf(model));
  return {
    providers: Object.fromEntries(section("providers")),
    models: models.map(([id, model]) => toKnown(id, model)),
    servers: new Map(
      models.map(([id, model]) => [id, routesOf(model).map(({ provider }) => String(provider))]),
    ),
    routes: new Set(routes.map(({ provider, model }) => `${String(provider)}/${String(model)}`)),
  };
}

function routesOf(model: Readonly<Record<string, unknown>>): readonly Record<string, unknown>[] {
  const list: unknown = model["routes"];
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** Only the embedded models serve it. */
function isEmbedded({ servers }: Present, id: string): boolean {
  const names = servers.get(id) ?? [];
  return names.length > 0 && names.every((name) => name === engineProvider);
}

/** Somebody else than the preset serves it. */
function isOthers(present: Present, { providers }: ManifestDraft, id: string): boolean {
  const names = present.servers.get(id) ?? [];
  return !isEmbedded(present, id) && names.some((name) => !Object.hasOwn(providers, name));
}

function toKnown(id: string, model: Readonly<Record<string, unknown>>): KnownModel {
  return {
    id,
    endpoint: String(model["endpoint"]),
    input: String(model["input"] ?? "text"),
    isRouted: routesOf(model).length > 0,
    hasPrice: model["price"] !== undefined,
  };
}

/** By the name that the file has for it, or by one that is free there. */
export function nameWithin(found: Found, { providers }: Present): Found {
  const known = Object.entries(providers).find(([, fields]) => isSamePlace(fields, found.draft));
  if (known !== undefined) return { ...found, name: known[0] };
  let name = found.name;
  for (let count = 2; Object.hasOwn(providers, name); count++) name = `${found.name}-${count}`;
  return { ...found, name };
}

/** Those that are named, else all that are there for this alone. */
export function chooseFound(all: readonly Found[], names: readonly string[]): readonly Found[] {
  if (names.length === 0) return all.filter((one) => !one.isShared && one.problem === undefined);
  const chosen = names.map((name) => {
    const found = all.find((one) => one.name === name || one.vendor === name) ?? assume(name);
    if (found === undefined)
      throw new Problem({
        code: "invalid",
        message: `--provider ${name} is not known: found are ${listOf(all.map((one) => one.name))}; svc provider add --help lists all vendors.`,
      });
    if (found.problem !== undefined)
      throw new Problem({
        code: "invalid",
        message: `${found.title} cannot be connected: ${found.problem}.`,
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
      message: `--preset ${name} is not known; there are: ${[...presetNames, localPreset].join(", ")}.`,
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

export interface FileOptions {
  /** The file as it is; undefined: there is none, or it is to be replaced. */
  readonly before: string | undefined;
  readonly preset: Preset | undefined;
  readonly connections: readonly Connection[];
  /** In hundred-millionths: 100,000,000 leaves prices as the vendors'. */
  readonly factor: bigint;
}

/** The file that would be written. */
export function fileWith({ before = "", preset, connections, factor }: FileOptions): Edited {
  const started = startWith(before, preset);
  const more = addToManifest(started.text, draftOf(connections, factor));
  return {
    text: more.text,
    added: [...started.added, ...more.added],
    kept: [...started.kept, ...more.kept],
  };
}

/**
 * What the embedded models serve to try it out is the preset's from now on. A model with other
 * routes stays as it is: two vendors behind one name would be two kinds of vectors at one price.
 */
function startWith(before: string, preset: Preset | undefined): Edited {
  if (preset === undefined) return { text: before, added: [], kept: [] };
  const { providers, models } = preset.draft;
  if (before.trim() !== "") {
    const present = readPresent(before);
    const given = Object.keys(models);
    const kept = given.filter((id) => isOthers(present, preset.draft, id));
    const text = withoutModels(
      before,
      given.filter((id) => isEmbedded(present, id)),
    );
    const added = addToManifest(text, { providers, models: omit(models, kept) });
    return { ...added, kept: [...added.kept, ...kept.map((id) => `model ${id}`)] };
  }
  const names = [
    ...Object.keys(providers).map((name) => `provider ${name}`),
    ...Object.keys(models).map((id) => `model ${id}`),
  ];
  return { text: preset.text, added: names, kept: [] };
}

/** What becomes of models that a preset has, and the gateway too. */
export interface PresetFate {
  /** Only the embedded models serve them until now. */
  readonly moved: readonly string[];
  /** The file has them with other routes: they stay as they are. */
  readonly stays: readonly string[];
}

export function presetFate(options: {
  readonly preset: Preset | undefined;
  readonly present: Present;
  /** In force, with routes as `provider/model`. */
  readonly models: readonly Pick<ModelView, "id" | "served" | "routes">[];
}): PresetFate {
  const { preset, present, models } = options;
  if (preset === undefined) return { moved: [], stays: [] };
  const given = preset.draft.models;
  const stays = Object.keys(given).filter((id) => isOthers(present, preset.draft, id));
  const isMoved = ({ id, served, routes }: (typeof models)[number]) =>
    served &&
    Object.hasOwn(given, id) &&
    !stays.includes(id) &&
    routes.every((route) => route.startsWith(`${engineProvider}/`));
  return { moved: models.filter(isMoved).map(({ id }) => id), stays };
}

const omit = (models: ManifestDraft["models"], ids: readonly string[]) =>
  Object.fromEntries(Object.entries(models).filter(([id]) => !ids.includes(id)));

function draftOf(connections: readonly Connection[], factor: bigint): ManifestDraft {
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

function entriesOf(value: unknown): readonly (readonly [string, Record<string, unknown>])[] {
  return isRecord(value)
    ? Object.entries(value).flatMap(([key, one]) => (isRecord(one) ? [[key, one] as const] : []))
    : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
