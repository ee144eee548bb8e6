import type { Endpoint, InputKind } from "../call/endpoint.ts";
import { billedClasses } from "../call/endpoint.ts";
import type { Price } from "../call/price.ts";
import type { VoiceMap } from "../call/speak.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Serves the embedded models; there without being declared. */
export const engineProvider = "engine";

/** One way to serve a model: a provider, and the name that the model has there. */
export interface Route {
  readonly provider: string;
  readonly model: string;
  readonly weight: number;
  readonly voices?: VoiceMap;
}

export interface Model {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly ownedBy: string;
  readonly createdAtMs: number;
  readonly maxOutputTokens?: number;
  readonly price?: Price;
  readonly routes: readonly Route[];
  readonly lifecycle: Lifecycle;
}

/** An API key of a vendor: the name of a variable, or text sealed under the master secret. */
export type StoredSecret = { readonly variable: string } | { readonly sealed: string };

export const providerKinds = ["openai"] as const;
export type ProviderKind = (typeof providerKinds)[number];

export interface ProviderEntry {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey?: StoredSecret;
  readonly allowPrivate: boolean;
}

/** The model with those of its routes that can be used here. */
export function withRoutes(model: Model, isUsable: (route: Route) => boolean): Model {
  const routes = model.routes.filter(isUsable);
  return routes.length === model.routes.length ? model : { ...model, routes };
}

/** Priced in every class it is billed by, and routed: else it is as good as unknown. */
export function isServed(model: Model): boolean {
  if (model.routes.length === 0) return false;
  const price = model.price;
  if (price === undefined) return false;
  return billedClasses(model.endpoint, model.input).every((key) => price[key] !== undefined);
}
