import { optionalDate } from "../../base/dates.ts";
import { toDecimal } from "../../base/decimal.ts";
import { type Price, priceKeys, priceScale } from "../../call/price.ts";
import { type LifecycleState, lifecycleState } from "../../catalog/lifecycle.ts";
import { type Model, priceAt } from "../../catalog/model.ts";
import type { Origin } from "../../catalog/origin.ts";

/** Where an entry of the catalogue came from; a file's `fields` can only be changed there. */
export interface SourceView {
  readonly kind: "file" | "store";
  readonly file: string | null;
  readonly fields: readonly string[];
}

export function toSourceView({ origin }: { readonly origin?: Origin }): SourceView {
  return origin === undefined
    ? { kind: "store", file: null, fields: [] }
    : { kind: "file", file: origin.file, fields: origin.fields };
}

export interface ModelView {
  readonly id: string;
  readonly endpoint: string;
  readonly input: string;
  readonly owned_by: string;
  readonly status: LifecycleState;
  /** Priced, routed and not retired: callers can reach it. */
  readonly served: boolean;
  readonly price: Readonly<Record<string, string>> | null;
  /** As `provider/model`, for people; `route_list` has the same in fields. */
  readonly routes: readonly string[];
  readonly route_list: readonly { readonly provider: string; readonly model: string }[];
  readonly source: SourceView;
  readonly max_output_tokens: number | null;
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
  readonly replacement: string | null;
}

export function toModelView({
  model,
  isServed,
  nowMs,
}: {
  readonly model: Model;
  readonly isServed: boolean;
  readonly nowMs: number;
}): ModelView {
  const { id, endpoint, input, ownedBy, routes, maxOutputTokens, lifecycle } = model;
  const status = lifecycleState(lifecycle, nowMs);
  const price = priceAt(model, nowMs)?.price;
  return {
    id,
    endpoint,
    input,
    owned_by: ownedBy,
    status,
    served: isServed && status !== "retired",
    price: price === undefined ? null : toPriceView(price),
    routes: routes.map((route) => `${route.provider}/${route.model}`),
    route_list: routes.map(({ provider, model: name }) => ({ provider, model: name })),
    source: toSourceView(model),
    max_output_tokens: maxOutputTokens ?? null,
    deprecated_at: optionalDate(lifecycle.deprecatedAtMs),
    retires_at: optionalDate(lifecycle.retiresAtMs),
    replacement: lifecycle.replacement ?? null,
  };
}

/** In USD: a million tokens, an image, a second of video. */
export function toPriceView(price: Price): Readonly<Record<string, string>> {
  const pairs = priceKeys.flatMap((key) => {
    const units = price[key];
    return units === undefined ? [] : [[key, toDecimal(units, priceScale(key), 2)] as const];
  });
  return Object.fromEntries(pairs);
}
