import { optionalDate } from "../../base/dates.ts";
import { toDecimal } from "../../base/decimal.ts";
import { type Price, priceKeys, priceScale } from "../../call/price.ts";
import { type LifecycleState, lifecycleState } from "../../catalog/lifecycle.ts";
import { type Model, priceAt } from "../../catalog/model.ts";

export interface ModelView {
  readonly id: string;
  readonly endpoint: string;
  readonly input: string;
  readonly owned_by: string;
  readonly status: LifecycleState;
  /** Priced, routed and not retired: callers can reach it. */
  readonly served: boolean;
  readonly price: Readonly<Record<string, string>> | null;
  readonly routes: readonly string[];
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
