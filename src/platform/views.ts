import { toDateText } from "../base/dates.ts";
import { toDecimal } from "../base/decimal.ts";
import { toUsd } from "../base/money.ts";
import { type Price, priceKeys, priceScale } from "../call/price.ts";
import { type LifecycleState, lifecycleState } from "../catalog/lifecycle.ts";
import { type Model, priceAt } from "../catalog/model.ts";
import type { Origin } from "../catalog/origin.ts";
import type { KeyRecord, TemporaryKey } from "../keys/directory.ts";
import type { Account } from "../ledger/account.ts";
import { type LimitsView, toLimitsView } from "./accounts/money-views.ts";

/** What commands print with --json: snake_case, money as decimal strings in USD, times in UTC. */
export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  /** Those that are not revoked. */
  readonly keys: number;
  readonly status: "active" | "suspended";
  readonly balance_usd: string;
  readonly limits: LimitsView;
}

export interface KeyView {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  /** The shape of the secret, never the secret. */
  readonly hint: string;
  readonly models: readonly string[] | null;
  readonly status: "active" | "expired" | "revoked";
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** When the newest of its calls began; null: never used. */
  readonly last_used_at: string | null;
  /** The secret before the last rotation, while it still works. */
  readonly previous: { readonly hint: string; readonly expires_at: string } | null;
  readonly limits: LimitsView;
}

/** The one place where a key's secret is shown: when it was created or rotated. */
export interface NewKeyView extends KeyView {
  readonly key: string;
  /** What the operator may have meant otherwise. */
  readonly warnings: readonly string[];
}

/** A key that no list shows, and where it opens the gateway. */
export interface TemporaryKeyView {
  readonly key: string;
  readonly account: string;
  readonly expires_at: string;
  readonly base_url: string;
}

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
  readonly max_output_tokens: number | null;
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
  readonly replacement: string | null;
  readonly source: SourceView;
}

export function toAccountView(options: {
  readonly account: Account;
  readonly keys: number;
  readonly balance: bigint;
}): AccountView {
  const { id, name, createdAtMs, suspendedAtMs, limits } = options.account;
  return {
    id,
    name,
    created_at: toDateText(createdAtMs),
    keys: options.keys,
    status: suspendedAtMs === undefined ? "active" : "suspended",
    balance_usd: toUsd(options.balance),
    limits: toLimitsView(limits),
  };
}

export function toKeyView(options: {
  readonly record: KeyRecord;
  readonly lastUsedMs: number | undefined;
  readonly nowMs: number;
}): KeyView {
  const { record, lastUsedMs, nowMs } = options;
  const { id, accountId, name, hint, models, limits } = record;
  const { createdAtMs, expiresAtMs, revokedAtMs } = record;
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  const status = revokedAtMs !== undefined ? "revoked" : isExpired ? "expired" : "active";
  return {
    id,
    account: accountId,
    name,
    hint,
    models: models === undefined ? null : [...models],
    status,
    created_at: toDateText(createdAtMs),
    expires_at: optionalDate(expiresAtMs),
    revoked_at: optionalDate(revokedAtMs),
    last_used_at: optionalDate(lastUsedMs),
    previous: status === "active" ? toPreviousView(record, nowMs) : null,
    limits: toLimitsView(limits),
  };
}

function toPreviousView({ previous, expiresAtMs }: KeyRecord, nowMs: number): KeyView["previous"] {
  if (previous === undefined || previous.expiresAtMs <= nowMs) return null;
  const endsMs = Math.min(previous.expiresAtMs, expiresAtMs ?? previous.expiresAtMs);
  return { hint: previous.hint, expires_at: toDateText(endsMs) };
}

export function toTemporaryKeyView(
  issued: TemporaryKey & { readonly accountId: string; readonly baseUrl: string },
): TemporaryKeyView {
  const { key, expiresAtMs, accountId, baseUrl } = issued;
  return { key, account: accountId, expires_at: toDateText(expiresAtMs), base_url: baseUrl };
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
    max_output_tokens: maxOutputTokens ?? null,
    deprecated_at: optionalDate(lifecycle.deprecatedAtMs),
    retires_at: optionalDate(lifecycle.retiresAtMs),
    replacement: lifecycle.replacement ?? null,
    source: toSourceView(model),
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

export function optionalDate(ms: number | undefined): string | null {
  return ms === undefined ? null : toDateText(ms);
}
