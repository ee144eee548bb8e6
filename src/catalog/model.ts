import type { Endpoint, InputKind } from "../call/endpoint.ts";
import { billedClasses } from "../call/endpoint.ts";
import type { Price } from "../call/price.ts";
import type { VoiceMap } from "../call/speak.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Origin } from "./origin.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/** The models that a first start creates, served by the embedded models. */
export const seededModels = [
  "svc-embedding-2",
  "svc-3-flash",
  "svc-2.5-flash-tts",
  "svc-2.5-pro-tts",
  "multimodal-embedding-1",
  "svc-transcribe-1",
] as const;

/** Serves the embedded models. Exists without being declared. */
export const engineProvider = "engine";

/** How long an answer may become where neither the caller nor the model says. */
export const usualOutputTokens = 4_096;

/** One way to serve a model: a provider, and the name that the model has there. */
export interface Route {
  readonly provider: string;
  readonly model: string;
  readonly weight: number;
  /** Routes with the lowest number are tried first, then the others. Default: 1. */
  readonly priority?: number;
  readonly voices?: VoiceMap;
  /** Of embeddings: whether 3,072 numbers are asked for where the caller names no length. */
  readonly dimensions?: "own" | 3072;
  /** What the vendor asks for it, so that the operator sees what is left of the price. */
  readonly cost?: Price;
}

/** What a model costs from a moment on; without a price it is not served from then on. */
export interface PriceVersion {
  readonly version: number;
  readonly effectiveAtMs: number;
  readonly createdAtMs: number;
  readonly price: Price | undefined;
}

export interface Model {
  readonly id: string;
  /** Further ids that callers can use for it. Unique among the ids and aliases of all models. */
  readonly aliases?: readonly string[];
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly ownedBy: string;
  readonly createdAtMs: number;
  /** How many tokens fit into one request and its answer; only shown to callers. */
  readonly contextLength?: number;
  readonly maxOutputTokens?: number;
  /** The most tokens that an image in a message may count for. */
  readonly maxImageTokens?: number;
  /** The longest that speech may become. */
  readonly maxAudioSeconds?: number;
  /** How long its upstreams may take, where that is otherwise than for the rest. */
  readonly timeouts?: Timeouts;
  /** By effective time, then by version. */
  readonly prices: readonly PriceVersion[];
  readonly routes: readonly Route[];
  /** Set by the store: the version of the routes' costs, with all routes, those not in use included. */
  readonly costs?: { readonly version: number; readonly routes: readonly Route[] };
  readonly lifecycle: Lifecycle;
  /** Absent: it lives in the store alone. */
  readonly origin?: Origin;
}

/** Where the cost of a route is recorded, for the receipts of calls that it served. */
export function routeCost(
  { costs }: Model,
  route: Route,
): { readonly version: number; readonly route: number } | undefined {
  const at = costs?.routes.indexOf(route) ?? -1;
  return costs === undefined || at === -1 ? undefined : { version: costs.version, route: at };
}

/** An API key of a vendor: the name of a variable, or text sealed under the master secret. */
export type StoredSecret =
  | { readonly variable: string }
  /** With its last characters, so that people can tell keys apart. */
  | { readonly sealed: string; readonly hint?: string };

/** In seconds. */
export interface Timeouts {
  /** To make a connection. */
  readonly connect?: number;
  /** From calling a target to the first byte of its reply. */
  readonly firstByte?: number;
  /** Of silence within an answer. */
  readonly idle?: number;
  /** For the whole call, all targets together. */
  readonly total?: number;
}

/** An option of a provider: as a secret, or as plain text. */
export type StoredOption = StoredSecret | { readonly text: string };

/** One of several keys of a provider. */
export interface ProviderKey {
  /** Unique within the provider. */
  readonly name: string;
  readonly secret: StoredSecret;
  /** Its share of the provider's calls, against the other keys. */
  readonly weight: number;
  readonly isPaused?: true;
}

export interface ProviderEntry {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** The key named `default`, of weight 1. */
  readonly apiKey?: StoredSecret;
  /** Further keys; calls are spread over all of them. */
  readonly keys?: readonly ProviderKey[];
  readonly allowPrivate: boolean;
  /** The operator paused it: its routes stay and are skipped. */
  readonly isPaused?: true;
  /** What its kind needs beside that, by the names of svc.yaml. */
  readonly options?: Readonly<Record<string, StoredOption>>;
  /** Absent: it lives in the store alone. */
  readonly origin?: Origin;
}

/** The model with those of its routes that can be used here. */
export function withRoutes(model: Model, isUsable: (route: Route) => boolean): Model {
  const routes = model.routes.filter(isUsable);
  return routes.length === model.routes.length ? model : { ...model, routes };
}

export type PriceInForce = PriceVersion & { readonly price: Price };

/** The price at a given time, with its version; it applies to the whole call. */
export function priceAt({ prices }: Model, nowMs: number): PriceInForce | undefined {
  for (let at = prices.length - 1; at >= 0; at--) {
    const version = prices[at];
    if (version === undefined || version.effectiveAtMs > nowMs) continue;
    return isPriced(version) ? version : undefined;
  }
  return undefined;
}

const isPriced = (version: PriceVersion): version is PriceInForce => version.price !== undefined;

/** Priced in every class it is billed by, and routed: else it is as good as unknown. */
export function isServed(model: Model, nowMs: number): boolean {
  if (model.routes.length === 0) return false;
  return isWhole(model, priceAt(model, nowMs)?.price);
}

export function isWhole({ endpoint, input }: Model, price: Price | undefined): boolean {
  return (
    price !== undefined && billedClasses(endpoint, input).every((key) => price[key] !== undefined)
  );
}
