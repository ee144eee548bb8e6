import { optionalDate } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { Trial } from "../../call/trial.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import {
  engineProvider,
  isWhole,
  type Model,
  type ProviderEntry,
  type ProviderKey,
  priceAt,
  type StoredSecret,
} from "../../catalog/model.ts";
import { keysOf } from "../../catalog/provider-keys.ts";
import { providerKindShapes } from "../../catalog/provider-kinds.ts";
import { bestState, targetStates, worstState } from "../../catalog/state.ts";
import type { KnownTarget, TargetStates } from "../../catalog/target-states.ts";
import { quirksOf, type Vendor, vendors } from "../../catalog/vendors.ts";
import { toSourceView } from "../models/views.ts";
import type { OfferedModel } from "./proposal.ts";
import type {
  KeyView,
  LastDayView,
  ProviderView,
  SecretView,
  TargetView,
  TrialView,
  TroubleView,
  VendorView,
} from "./schemas.ts";

/** Calls providers as the gateway would; what it says holds no secret. */
export interface Upstreams {
  /** `isNew`: it does not exist yet, so messages refer to the command and not to svc.yaml. */
  offer(
    entry: ProviderEntry,
    isNew: boolean,
  ): Promise<
    { readonly models: readonly OfferedModel[] | undefined } | { readonly problem: TroubleView }
  >;
  /**
   * Whether an entry that is not saved yet can be called: by one small call, or without one by the
   * list of its models.
   */
  check(entry: ProviderEntry, trial: Trial | undefined): Promise<ConnectionCheck>;
  tryOut(entry: ProviderEntry, trials: readonly Trial[]): Promise<readonly TrialView[]>;
}

export type ConnectionCheck =
  | { readonly verdict: "works" | "untested" }
  | { readonly verdict: "failed"; readonly problem: TroubleView };

interface ShownProvider {
  readonly entry: ProviderEntry;
  readonly models: readonly Model[];
  readonly states: TargetStates;
  /** Whether a gateway runs. */
  readonly isRunning: boolean;
  readonly nowMs: number;
  /** Null: not known without a running gateway. */
  readonly lastDay: LastDayView | null;
  readonly isSet: (variable: string) => boolean;
}

export function toProviderView(shown: ShownProvider): ProviderView {
  const { entry, models, nowMs, isRunning, lastDay, isSet } = shown;
  const { name, kind, baseUrl, allowPrivate, apiKey, options: stored = {} } = entry;
  const secret = (one: StoredSecret) => toSecretView(one, isSet);
  const routed = models.flatMap(({ id, routes }) => {
    const upstream = routes.filter((route) => route.provider === name).map(({ model }) => model);
    return upstream.length === 0 ? [] : [{ id, upstream }];
  });
  const targets = targetsOf(shown, routed);
  return {
    name,
    kind,
    vendor: vendorOf(entry)?.id ?? null,
    paused: entry.isPaused === true,
    status: statusOf(shown, targets),
    base_url: baseUrl === "" ? null : baseUrl,
    allow_private: allowPrivate,
    api_key: apiKey === undefined ? null : secret(apiKey),
    keys: keysOf(entry).map((key) => toKeyView(shown, key, targets)),
    last_24h: lastDay,
    options: Object.fromEntries(
      Object.entries(stored).map(([key, one]) => [key, "text" in one ? one.text : secret(one)]),
    ),
    models: routed,
    needs_price: models
      .filter((model) => model.routes.some((route) => route.provider === name))
      .filter((model) => needsPrice(model, nowMs))
      .map(({ id }) => id),
    source: toSourceView(entry),
    targets: isRunning ? targets.map(toTargetView) : null,
  };
}

const needsPrice = (model: Model, nowMs: number) =>
  lifecycleState(model.lifecycle, nowMs) !== "retired" &&
  !isWhole(model, priceAt(model, nowMs)?.price);

function toSecretView(one: StoredSecret, isSet: ShownProvider["isSet"]): SecretView {
  return "variable" in one
    ? { from: "variable", variable: one.variable, hint: null, is_set: isSet(one.variable) }
    : { from: "store", variable: null, hint: one.hint ?? null, is_set: true };
}

function toKeyView(
  { entry, states, isSet }: ShownProvider,
  key: ProviderKey,
  targets: readonly NamedTarget[],
): KeyView {
  const { name, weight, secret, isPaused = false } = key;
  const own = targets.filter((target) => target.key === null || target.key === name);
  return {
    name,
    weight,
    paused: isPaused,
    secret: toSecretView(secret, isSet),
    status: states.key(entry, key, own),
    models: own.length,
    failing_models: own.filter(({ state }) => state === "failing").length,
  };
}

type NamedTarget = KnownTarget & { readonly model: string };

/** Every route by every key, whether it was called or not; the worst first. */
function targetsOf(
  { entry, states }: ShownProvider,
  routed: ProviderView["models"],
): readonly NamedTarget[] {
  const names = [...new Set(routed.flatMap(({ upstream }) => upstream))];
  const targets = names.flatMap((model) =>
    states.targets({ provider: entry.name, model }).map((target) => ({ ...target, model })),
  );
  const rank = ({ state }: NamedTarget) => targetStates.indexOf(state);
  return targets.toSorted((one, other) => rank(one) - rank(other));
}

/** The worst of its targets; without any, what is known of its keys. */
function statusOf(
  { entry, states }: ShownProvider,
  targets: readonly NamedTarget[],
): ProviderView["status"] {
  if (entry.isPaused === true) return "paused";
  const worst = worstState(targets.map(({ state }) => state));
  if (worst !== undefined) return worst;
  // Keys that work say nothing of models that are not there yet.
  const known = keysOf(entry).map((key) => states.key(entry, key, []));
  return bestState(known) === "failing" || states.isRejected(entry) ? "failing" : "untested";
}

const unasked = {
  state: "closed",
  reason: null,
  since: null,
  until: null,
  requests: 0,
  failures: 0,
} as const;

function toTargetView({ model, key, state: status, health }: NamedTarget): TargetView {
  if (health === undefined) return { ...unasked, model, key, status };
  const { state, reason, sinceMs, untilMs, requests, failures, nodes } = health;
  return {
    model,
    key,
    status,
    state,
    reason,
    since: optionalDate(sinceMs ?? undefined),
    until: optionalDate(untilMs ?? undefined),
    requests,
    failures,
    ...(nodes === undefined ? {} : { nodes }),
  };
}

/** The one that was named, else the one whose address it has, else the only one of its kind. */
export function vendorOf({ kind, baseUrl, options = {} }: ProviderEntry): Vendor | undefined {
  const named = options["vendor"];
  const id = named !== undefined && "text" in named ? named.text : undefined;
  const quirks = quirksOf(id, baseUrl);
  const known = vendors.find((vendor) => vendor === quirks || vendor.id === id);
  return known ?? (kind === "openai" ? undefined : vendors.find((vendor) => vendor.kind === kind));
}

export function findEntry({ providers }: CatalogContent, name: string): ProviderEntry {
  const entry = providers.find((known) => known.name === name);
  if (entry !== undefined) return entry;
  if (name === engineProvider)
    throw new Problem({
      code: "invalid",
      message: 'Provider "engine" belongs to the embedded models and cannot be changed.',
      command: "engine status",
    });
  const known = providers.map((one) => one.name).join(", ");
  throw new Problem({
    code: "not_found",
    message: `Unknown provider "${name}".${known === "" ? "" : ` Providers: ${known}.`}`,
    command: known === "" ? "provider add --help" : "provider list",
  });
}

export function vendorViews(isSet: (name: string) => boolean): readonly VendorView[] {
  return vendors.map(({ id, title, kind, baseUrl, keyVariables, isLocal }) => {
    const shape = providerKindShapes[kind];
    return {
      id,
      title,
      kind,
      base_url: baseUrl === "" ? (shape.baseUrl ?? "") || null : baseUrl,
      on_this_machine: isLocal === true,
      variables: keyVariables.map((name) => ({ name, is_set: isSet(name) })),
      needs_key: shape.needsKey || (keyVariables.length > 0 && kind === "openai"),
      options: Object.entries(shape.options)
        .filter(([name]) => !["vendor", "responses", "image_urls", "reuse"].includes(name))
        .map(([name, { about, isNeeded, isSecret, variable }]) => ({
          name,
          about,
          needed: isNeeded === true,
          secret: isSecret === true,
          variable: variable ?? null,
        })),
    };
  });
}
