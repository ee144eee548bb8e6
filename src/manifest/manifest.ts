import { LineCounter, parseDocument } from "yaml";
import { fromDecimal } from "../base/decimal.ts";
import { Problem } from "../base/problem.ts";
import { yamlValue } from "../base/yaml.ts";
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
import { engineProvider, type ProviderKind, providerKinds, type Route } from "../catalog/model.ts";
import { referencedName } from "../secrets/secrets.ts";
import { Fields, type Path } from "./fields.ts";

export interface ManifestProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** As written: `${NAME}`, a literal, or `<stored>`. */
  readonly apiKey?: string;
  readonly allowPrivate: boolean;
}

export interface ManifestModel {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly ownedBy: string;
  readonly maxOutputTokens?: number;
  readonly maxImageTokens?: number;
  readonly maxAudioSeconds?: number;
  readonly price?: Price;
  readonly routes: readonly Route[];
}

export interface Manifest {
  readonly providers: readonly ManifestProvider[];
  readonly models: readonly ManifestModel[];
}

export type AddressCheck = (baseUrl: string, allowPrivate: boolean) => string | undefined;

/** Reads svc.yaml whole or not at all: every problem is named, with its line. */
export function readManifest(text: string, checkAddress: AddressCheck): Manifest {
  const lineCounter = new LineCounter();
  // "failsafe" leaves every scalar as it was written: 0.10 and "0.10" are the same decimal text.
  const document = parseDocument(text, { schema: "failsafe", lineCounter, prettyErrors: true });
  if (document.errors.length > 0)
    throw new Problem("invalid", document.errors.map(({ message }) => message).join("\n"));
  const problems: string[] = [];
  const report = (path: Path, message: string) => {
    const node = [path, path.slice(0, -1)]
      .map((at) => document.getIn(at, true))
      .find((found) => hasRange(found));
    const line = hasRange(node) ? lineCounter.linePos(node.range[0]).line : 1;
    problems.push(`line ${line}: ${path.length === 0 ? "the file" : path.join(".")} ${message}`);
  };
  const root = new Fields({ value: yamlValue(document, lineCounter) ?? {}, path: [], report });
  root.only(["settings", "engine", "providers", "models"]);
  const providers = root.entries("providers").map((fields) => readProvider(fields, checkAddress));
  const models = root.entries("models").map((fields) => readModel(fields, providers));
  if (problems.length > 0) throw new Problem("invalid", problems.join("\n"));
  return { providers, models };
}

function readProvider(fields: Fields, checkAddress: AddressCheck): ManifestProvider {
  fields.only(["kind", "base_url", "api_key", "allow_private"]);
  const name = fields.ownName(/^[A-Za-z0-9][\w-]{0,62}$/, "letters, digits, - and _");
  if (name === engineProvider)
    fields.wrong("kind", "is not yours to set: engine is the provider of the embedded models");
  const kind = fields.word("kind", providerKinds) ?? "openai";
  const baseUrl = (fields.text("base_url") ?? "").replace(/\/+$/, "");
  const allowPrivate = fields.flag("allow_private");
  const problem = baseUrl === "" ? undefined : checkAddress(baseUrl, allowPrivate);
  if (problem !== undefined) fields.wrong("base_url", problem);
  const apiKey = fields.optionalText("api_key");
  if (apiKey?.includes("${") && referencedName(apiKey) === undefined)
    fields.wrong(
      "api_key",
      "must be exactly ${NAME}, a variable of the environment, or the key itself",
    );
  return { name, kind, baseUrl, ...(apiKey === undefined ? {} : { apiKey }), allowPrivate };
}

const modelFields = [
  "endpoint",
  "input",
  "owned_by",
  "max_output_tokens",
  "max_image_tokens",
  "max_audio_seconds",
  "price",
  "routes",
];

function readModel(fields: Fields, providers: readonly ManifestProvider[]): ManifestModel {
  fields.only(modelFields);
  const id = fields.ownName(/^[A-Za-z0-9][\w.:/@-]{0,127}$/, "letters, digits and . _ : / @ -");
  const endpoint = fields.word("endpoint", endpoints) ?? "chat";
  const input = readInput(fields, endpoint);
  const maxOutputTokens = fields.optionalInteger("max_output_tokens", {
    minimum: 1,
    maximum: 10_000_000,
  });
  const maxImageTokens = readBound(fields, "max_image_tokens", endpoint === "chat");
  const maxAudioSeconds = readBound(fields, "max_audio_seconds", endpoint === "speech");
  const price = readPrice(fields, "price");
  if (price !== undefined) checkClasses({ fields: fields.inner("price"), endpoint, input });
  const routes = fields.list("routes").map((route) => readRoute(route, endpoint, providers));
  return {
    id,
    endpoint,
    input,
    ownedBy: fields.optionalText("owned_by") ?? "svc",
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(maxImageTokens === undefined ? {} : { maxImageTokens }),
    ...(maxAudioSeconds === undefined ? {} : { maxAudioSeconds }),
    ...(price === undefined ? {} : { price }),
    routes,
  };
}

function readInput(fields: Fields, endpoint: Endpoint): InputKind {
  if (endpoint === "embeddings") return fields.word("input", ["text", "media"]) ?? "text";
  if (fields.has("input")) fields.wrong("input", "is for embeddings models only");
  return "text";
}

function readBound(fields: Fields, name: string, applies: boolean): number | undefined {
  if (fields.has(name) && !applies) fields.wrong(name, "does not apply to this endpoint");
  return fields.optionalInteger(name, { minimum: 1, maximum: 1_000_000 });
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
        `must be a decimal number of USD with at most ${priceScale(key)} digits after the point, not "${text}"`,
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
      fields.wrong(key, `is missing: ${describe(endpoint, input)} is billed by it (0 is a price)`);
}

const describe = (endpoint: Endpoint, input: InputKind) =>
  endpoint === "embeddings" ? `an embeddings model for ${input}` : `a ${endpoint} model`;

function readRoute(
  fields: Fields,
  endpoint: Endpoint,
  providers: readonly ManifestProvider[],
): Route {
  fields.only(["provider", "model", "weight", "voices", "cost"]);
  const provider = fields.text("provider") ?? "";
  const isKnown = provider === engineProvider || providers.some(({ name }) => name === provider);
  if (provider !== "" && !isKnown)
    fields.wrong("provider", `names ${provider}, which is not among the providers of this file`);
  const model = fields.text("model") ?? "";
  const weight = fields.optionalInteger("weight", { minimum: 0, maximum: 1_000_000 }) ?? 1;
  const cost = readPrice(fields, "cost");
  const route = { provider, model, weight, ...(cost === undefined ? {} : { cost }) };
  if (endpoint === "speech") return { ...route, voices: readVoices(fields) };
  if (fields.has("voices")) fields.wrong("voices", "is for speech models only");
  return route;
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
