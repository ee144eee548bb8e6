import { optionalDate } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { Trial } from "../../call/trial.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import {
  engineProvider,
  type Model,
  type ProviderEntry,
  type StoredOption,
} from "../../catalog/model.ts";
import { providerKindShapes } from "../../catalog/provider-kinds.ts";
import { quirksOf, type Vendor, vendors } from "../../catalog/vendors.ts";
import { toSourceView } from "../models/views.ts";
import type { OfferedModel } from "./proposal.ts";
import type {
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
  tryOut(entry: ProviderEntry, trials: readonly Trial[]): Promise<readonly TrialView[]>;
}

export function toProviderView(options: {
  readonly entry: ProviderEntry;
  readonly models: readonly Model[];
  readonly health: readonly TargetHealth[] | undefined;
  readonly isSet: (variable: string) => boolean;
}): ProviderView {
  const { entry, models, health, isSet } = options;
  const { name, kind, baseUrl, allowPrivate, apiKey, options: stored = {} } = entry;
  const secret = (one: Exclude<StoredOption, { text: string }>): SecretView =>
    "variable" in one
      ? { from: "variable", variable: one.variable, is_set: isSet(one.variable) }
      : { from: "store", variable: null, is_set: true };
  const routed = models.flatMap(({ id, routes }) => {
    const upstream = routes.filter((route) => route.provider === name).map(({ model }) => model);
    return upstream.length === 0 ? [] : [{ id, upstream }];
  });
  return {
    name,
    kind,
    vendor: vendorOf(entry)?.id ?? null,
    base_url: baseUrl === "" ? null : baseUrl,
    allow_private: allowPrivate,
    api_key: apiKey === undefined ? null : secret(apiKey),
    options: Object.fromEntries(
      Object.entries(stored).map(([key, one]) => [key, "text" in one ? one.text : secret(one)]),
    ),
    models: routed,
    source: toSourceView(entry),
    targets: health === undefined ? null : targetsOf(name, routed, health),
  };
}

/** Those that were asked, and those that have not been, of which nothing bad is known. */
function targetsOf(
  name: string,
  routed: ProviderView["models"],
  health: readonly TargetHealth[],
): readonly TargetView[] {
  const asked = health.filter(({ provider }) => provider === name).map(toTargetView);
  const names = new Set(routed.flatMap(({ upstream }) => upstream));
  for (const { model } of asked) names.delete(model);
  return [...asked, ...[...names].map((model) => ({ ...unasked, model }))];
}

const unasked = {
  state: "closed",
  reason: null,
  since: null,
  until: null,
  requests: 0,
  failures: 0,
} as const;

function toTargetView({ sinceMs, untilMs, ...health }: TargetHealth): TargetView {
  const { model, state, reason, requests, failures } = health;
  return {
    model,
    state,
    reason,
    since: optionalDate(sinceMs ?? undefined),
    until: optionalDate(untilMs ?? undefined),
    requests,
    failures,
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
        .filter(([name]) => name !== "vendor" && name !== "image_urls")
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
