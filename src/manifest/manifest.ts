import { fromDecimal } from "../base/decimal.ts";
import { defined } from "../base/defined.ts";
import { Problem } from "../base/problem.ts";
import { parseYaml, yamlValue } from "../base/text/yaml.ts";
import { billedClasses, type Endpoint, endpoints, type InputKind } from "../call/endpoint.ts";
import {
  isTooDear,
  maxPriceUsd,
  type Price,
  type PriceKey,
  priceKeys,
  priceScale,
} from "../call/price.ts";
import { type VoiceMap, voices } from "../call/speak.ts";
import { modelIdCharacters, modelIdPattern, mostAliases } from "../catalog/aliases.ts";
import { engineProvider, type Route, type Timeouts } from "../catalog/model.ts";
import { asTexts, type ManifestDraft } from "./draft.ts";
import { Fields, type Path, type Report } from "./fields.ts";
import {
  type ManifestProvider,
  type ProviderReading,
  readProvider,
  sharedFields,
} from "./read-provider.ts";

export interface ManifestModel {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly ownedBy: string;
  readonly maxOutputTokens?: number;
  readonly contextLength?: number;
  readonly maxImageTokens?: number;
  readonly maxAudioSeconds?: number;
  readonly timeouts?: Timeouts;
  /** Absent: the current price stays. */
  readonly price?: Price;
  /** `price: none`: from now on there is none. */
  readonly isUnpriced?: true;
  readonly routes: readonly Route[];
  /** The fields that are named; the others have their defaults here. */
  readonly stated: readonly string[];
}

export interface Manifest {
  readonly providers: readonly ManifestProvider[];
  readonly models: readonly ManifestModel[];
}

export interface ReadOptions extends ProviderReading {
  /** Providers that routes may name although they are not among these entries. */
  readonly known?: readonly string[];
}

/** Reads svc.yaml whole or not at all: every problem is named, with its line. */
export function readManifest(text: string, options: ReadOptions): Manifest {
  // Every scalar is as it was written: 0.10 and "0.10" are the same decimal text.
  const { document, lineCounter, problems: broken } = parseYaml(text);
  if (broken.length > 0) throw new Problem({ code: "invalid", message: broken.join("\n") });
  const problems: string[] = [];
  const report = (path: Path, message: string) => {
    const node = [path, path.slice(0, -1)]
      .map((at) => document.getIn(at, true))
      .find((found) => hasRange(found));
    const line = hasRange(node) ? lineCounter.linePos(node.range[0]).line : 1;
    problems.push(`line ${line}: ${path.length === 0 ? "the file" : path.join(".")} ${message}`);
  };
  const value = yamlValue(document, lineCounter) ?? {};
  const manifest = readEntries(value, report, options);
  if (problems.length > 0) throw new Problem({ code: "invalid", message: problems.join("\n") });
  return manifest;
}

/** Reads entries that no file holds; the first problem is thrown with its field. */
export function readDraft(draft: Partial<ManifestDraft>, options: ReadOptions): Manifest {
  const problems: Problem[] = [];
  const report = ([section, name, ...rest]: Path, message: string) => {
    const isProvider = section === "providers";
    const path = rest.join(".");
    // The API has what only some kinds know under `options`.
    const isOption = isProvider && !sharedFields.includes(String(rest[0]));
    const own = isOption ? `options.${path}` : path;
    const field = rest.length === 0 ? (isProvider ? "name" : "id") : own;
    const subject = rest.length === 0 ? `"${name}"` : path;
    problems.push(new Problem({ code: "invalid", message: `${subject} ${message}.`, field }));
  };
  const manifest = readEntries(asTexts(draft), report, options);
  const [first] = problems;
  if (first !== undefined) throw first;
  return manifest;
}

function readEntries(
  value: unknown,
  report: Report,
  { known = [], ...reading }: ReadOptions,
): Manifest {
  const root = new Fields({ value, path: [], report });
  root.only(["settings", "engine", "providers", "models"]);
  const providers = root.entries("providers").map((fields) => readProvider(fields, reading));
  const names = [engineProvider, ...known, ...providers.map(({ name }) => name)];
  const models = root.entries("models").map((fields) => readModel(fields, names));
  return { providers, models };
}

const modelFields = [
  "aliases",
  "endpoint",
  "input",
  "owned_by",
  "context_length",
  "max_output_tokens",
  "max_image_tokens",
  "max_audio_seconds",
  "timeouts",
  "price",
  "routes",
];

function readModel(fields: Fields, providers: readonly string[]): ManifestModel {
  fields.only(modelFields);
  const id = fields.ownName(modelIdPattern, modelIdCharacters);
  const aliases = readAliases(fields);
  const endpoint = fields.word("endpoint", endpoints) ?? "chat";
  const input = readInput(fields, endpoint);
  const tokens = { minimum: 1, maximum: 10_000_000 };
  const contextLength = fields.optionalInteger("context_length", tokens);
  const maxOutputTokens = fields.optionalInteger("max_output_tokens", tokens);
  const maxImageTokens = readBound(fields, "max_image_tokens", endpoint === "chat");
  const maxAudioSeconds = readBound(fields, "max_audio_seconds", endpoint === "speech");
  const timeouts = readTimeouts(fields);
  const isNone = fields.isText("price") && fields.optionalText("price") === "none";
  const price = isNone ? undefined : readPrice(fields, "price");
  if (price !== undefined) checkClasses({ fields: fields.inner("price"), endpoint, input });
  const routes = fields.list("routes").map((route) => readRoute(route, endpoint, providers));
  return {
    id,
    ...(aliases.length === 0 ? {} : { aliases }),
    endpoint,
    input,
    ownedBy: fields.optionalText("owned_by") ?? "svc",
    ...defined({ contextLength, maxOutputTokens, maxImageTokens, maxAudioSeconds }),
    ...defined({ timeouts, price }),
    ...(isNone ? { isUnpriced: true } : {}),
    routes,
    stated: fields.names().filter((name) => fields.has(name)),
  };
}

function readAliases(fields: Fields): readonly string[] {
  const aliases = fields.texts("aliases");
  const wrong = aliases.find((alias) => !modelIdPattern.test(alias));
  const double = aliases.find((alias, at) => aliases.indexOf(alias) !== at);
  if (wrong !== undefined)
    fields.wrong(
      "aliases",
      `contains "${wrong}", which is not a valid id: use ${modelIdCharacters}`,
    );
  else if (double !== undefined) fields.wrong("aliases", `contains "${double}" twice`);
  else if (aliases.length > mostAliases)
    fields.wrong("aliases", `can have at most ${mostAliases} entries`);
  return aliases;
}

function readInput(fields: Fields, endpoint: Endpoint): InputKind {
  if (endpoint === "embeddings") return fields.word("input", ["text", "media"]) ?? "text";
  if (fields.has("input")) fields.wrong("input", "applies only to embeddings models");
  return "text";
}

function readBound(fields: Fields, name: string, applies: boolean): number | undefined {
  if (fields.has(name) && !applies) fields.wrong(name, "does not apply to this endpoint");
  return fields.optionalInteger(name, { minimum: 1, maximum: 1_000_000 });
}

const timeoutNames = {
  connect: "connect",
  first_byte: "firstByte",
  idle: "idle",
  total: "total",
} as const satisfies Record<string, keyof Timeouts>;

function readTimeouts(fields: Fields): Timeouts | undefined {
  if (!fields.has("timeouts")) return undefined;
  const given = fields.inner("timeouts");
  given.only(Object.keys(timeoutNames));
  const timeouts: Partial<Record<keyof Timeouts, number>> = {};
  for (const [name, key] of Object.entries(timeoutNames)) {
    const seconds = given.optionalSeconds(name, { minimum: 0.1, maximum: 86_400 });
    if (seconds !== undefined) timeouts[key] = seconds;
  }
  return timeouts;
}

function readPrice(fields: Fields, name: string): Price | undefined {
  if (!fields.has(name)) return undefined;
  const given = fields.inner(name);
  given.only(priceKeys);
  const price: Partial<Record<PriceKey, bigint>> = {};
  for (const key of priceKeys) {
    const text = given.optionalText(key);
    if (text === undefined) continue;
    const units = fromDecimal(text, priceScale(key));
    if (units === undefined)
      given.wrong(
        key,
        `must be an amount in USD with at most ${priceScale(key)} decimal places, not "${text}"`,
      );
    else if (isTooDear(key, units)) given.wrong(key, `must be at most ${maxPriceUsd} USD`);
    else price[key] = units;
  }
  return price;
}

function checkClasses(options: {
  readonly fields: Fields;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}): void {
  const { fields, endpoint, input } = options;
  for (const key of billedClasses(endpoint, input))
    if (!fields.has(key))
      fields.wrong(key, `is missing: ${describe(endpoint, input)} is billed for it (0 is allowed)`);
}

const describe = (endpoint: Endpoint, input: InputKind) =>
  endpoint === "embeddings" ? `an embeddings model for ${input}` : `a ${endpoint} model`;

function readRoute(fields: Fields, endpoint: Endpoint, providers: readonly string[]): Route {
  fields.only(["provider", "model", "priority", "weight", "voices", "dimensions", "cost"]);
  const provider = fields.text("provider") ?? "";
  if (provider !== "" && !providers.includes(provider))
    fields.wrong("provider", `refers to "${provider}", which does not exist`);
  const model = fields.text("model") ?? "";
  const weight = fields.optionalInteger("weight", { minimum: 0, maximum: 1_000_000 }) ?? 1;
  const priority = fields.optionalInteger("priority", { minimum: 1, maximum: 100 });
  const cost = readPrice(fields, "cost");
  const route = {
    provider,
    model,
    weight,
    ...(priority === undefined || priority === 1 ? {} : { priority }),
    ...(cost === undefined ? {} : { cost }),
    ...readDimensions(fields, endpoint),
  };
  if (endpoint === "speech") return { ...route, voices: readVoices(fields) };
  if (fields.has("voices")) fields.wrong("voices", "applies only to speech models");
  return route;
}

/** Whether 3,072 numbers are asked for where the caller names no length. */
function readDimensions(fields: Fields, endpoint: Endpoint): Pick<Route, "dimensions"> {
  if (!fields.has("dimensions")) return {};
  const word = fields.text("dimensions");
  if (endpoint !== "embeddings") fields.wrong("dimensions", "applies only to embeddings models");
  else if (word === "own") return { dimensions: word };
  else if (word === "3072") return { dimensions: 3072 };
  else if (word !== undefined) fields.wrong("dimensions", "must be own or 3072");
  return {};
}

function readVoices(fields: Fields): VoiceMap {
  const all = `{ ${voices.map((voice) => `${voice}: …`).join(", ")} }, or \`same\` if the upstream uses these names`;
  if (!fields.has("voices")) fields.wrong("voices", `is missing: map all five voices, ${all}`);
  else if (!fields.isText("voices")) {
    const map = fields.inner("voices");
    map.only(voices);
    const [first, second, third, fourth, fifth] = voices.map((voice) => map.text(voice) ?? "");
    return {
      Kore: first ?? "",
      Puck: second ?? "",
      Charon: third ?? "",
      Fenrir: fourth ?? "",
      Aoede: fifth ?? "",
    };
  } else if (fields.text("voices") !== "same") fields.wrong("voices", `must be ${all}`);
  return "same";
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}

/** By which a start knows whether the config file has changed since it was last applied. */
export function manifestDigest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
