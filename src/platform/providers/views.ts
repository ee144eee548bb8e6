import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { Trial, TrialKind } from "../../call/trial.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { TargetHealth } from "../../catalog/health.ts";
import {
  engineProvider,
  type Model,
  type ProviderEntry,
  type StoredOption,
} from "../../catalog/model.ts";
import { quirksOf, type Vendor, vendors } from "../../catalog/vendors.ts";
import type { OfferedModel } from "./proposal.ts";

/** A route to a model that its vendor does not list: it may be shut down, or about to be. */
export interface UnlistedView {
  /** Our name of the model. */
  readonly model: string;
  /** The vendor's, as the route has it. */
  readonly upstream: string;
}

/** What is wrong with a provider, in plain words, and what to do. */
export interface TroubleView {
  /** For machines: bad_key, no_credit, wrong_address, … */
  readonly trouble: string;
  readonly what: string;
  readonly advice: string;
}

export interface TrialView {
  readonly kind: TrialKind | "models";
  readonly model: string | null;
  readonly ok: boolean;
  readonly duration_ms: number;
  /** What came of it, in a few words. */
  readonly result: string | null;
  readonly problem: TroubleView | null;
  /** Of the list of models: routes to what the vendor does not list. */
  readonly unlisted: readonly UnlistedView[];
}

/** Calls providers as the gateway would; what it says holds no secret. */
export interface Upstreams {
  /** `isNew`: it is not in force, so its words are about the command and not about svc.yaml. */
  offer(
    entry: ProviderEntry,
    isNew: boolean,
  ): Promise<
    { readonly models: readonly OfferedModel[] | undefined } | { readonly problem: TroubleView }
  >;
  tryOut(entry: ProviderEntry, trials: readonly Trial[]): Promise<readonly TrialView[]>;
}

import { type SourceView, toSourceView } from "../models/views.ts";

/** Where a secret is: never the secret itself. */
export interface SecretView {
  readonly from: "variable" | "store";
  /** The variable's name. */
  readonly variable: string | null;
  /** Whether that is set where the gateway runs. */
  readonly is_set: boolean;
}

export interface TargetView {
  /** By the upstream's own name. */
  readonly model: string;
  readonly state: TargetHealth["state"];
  readonly reason: string | null;
  readonly since: string | null;
  readonly until: string | null;
  /** Of the last seconds. */
  readonly requests: number;
  readonly failures: number;
}

export interface ProviderView {
  readonly name: string;
  readonly kind: string;
  /** Whose server it is, where that is known. */
  readonly vendor: string | null;
  readonly base_url: string | null;
  readonly allow_private: boolean;
  readonly api_key: SecretView | null;
  /** The other fields, by name; secrets as where they are. */
  readonly options: Readonly<Record<string, string | SecretView>>;
  /** The models that are routed to it, each with its names there. */
  readonly models: readonly { readonly id: string; readonly upstream: readonly string[] }[];
  readonly source: SourceView;
  /** Null where no server runs. */
  readonly targets: readonly TargetView[] | null;
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
    since: sinceMs === null ? null : toDateText(sinceMs),
    until: untilMs === null ? null : toDateText(untilMs),
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
      message: "engine is the provider of the embedded models.",
      command: "engine status",
    });
  const known = providers.map((one) => one.name).join(", ");
  throw new Problem({
    code: "not_found",
    message: `Unknown provider "${name}".${known === "" ? "" : ` Known: ${known}.`}`,
    command: known === "" ? "provider add --help" : "provider list",
  });
}
