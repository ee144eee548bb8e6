import { Type } from "../../base/json/type.ts";
import { endpoints } from "../../call/endpoint.ts";
import { mostKeyWeight } from "../../catalog/provider-keys.ts";
import { providerKinds } from "../../catalog/provider-kinds.ts";
import { targetStates } from "../../catalog/state.ts";
import type { ModelDraft } from "../../manifest/draft.ts";
import {
  fields,
  type Input,
  moment,
  nullable,
  oneOf,
  priceBody,
  prices,
  says,
  source,
  text,
  usd,
  type View,
} from "../http/schemas.ts";
import { freshnessFields } from "../reports/freshness.ts";

/** Of one provider in one request. */
const mostServed = 500;

const secret = Type.Object(
  {
    from: oneOf(["variable", "store"]),
    variable: nullable(Type.String({ description: "Name of the variable." })),
    hint: nullable(Type.String({ description: "Last characters of a stored secret, if known." })),
    is_set: Type.Boolean({ description: "Whether it is available to the gateway." }),
  },
  { description: "Where a secret is stored, never the secret itself." },
);
export type SecretView = View<typeof secret>;

const status = oneOf(targetStates);

const keyView = Type.Object({
  name: Type.String({ description: "`default` for the key in `api_key`." }),
  weight: Type.Integer({ description: "Share of the calls, compared with the other keys." }),
  paused: Type.Boolean(),
  secret,
  status,
  models: Type.Integer({ description: "Models that it is used for." }),
  failing_models: Type.Integer({ description: "How many of them fail with this key." }),
});
export type KeyView = View<typeof keyView>;

const lastDay = Type.Object(
  {
    calls: Type.Integer({
      description: "Calls that ended at this provider, plus attempts that failed over.",
    }),
    errors: Type.Integer({ description: "How many of them failed, for any reason." }),
    latency_p95_ms: nullable(Type.Integer({ description: "95th percentile, approximate." })),
    cost_usd: nullable(
      Type.String({ description: "Vendor cost; null if it is unknown for every call." }),
    ),
    cost_known_calls: Type.Integer({ description: "Calls whose vendor cost is known." }),
    shortfall_usd: usd("Cost of calls beyond their holds, borne by the operator."),
    ...freshnessFields,
  },
  { description: "The last 24 hours, in whole hours." },
);
export type LastDayView = View<typeof lastDay>;

const target = Type.Object({
  model: Type.String({ description: "Model name at the provider." }),
  key: nullable(Type.String({ description: "Name of the key, if the provider has several." })),
  status,
  state: oneOf(["closed", "open", "half-open", "resting"]),
  reason: nullable(Type.String()),
  since: nullable(moment()),
  until: nullable(moment()),
  requests: Type.Integer({ description: "Recent requests." }),
  failures: Type.Integer(),
  nodes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Where several nodes share the database: those for which it is out of service. `state` is the worst of all nodes.",
    }),
  ),
});
export type TargetView = View<typeof target>;

const provider = {
  name: Type.String(),
  kind: Type.String(),
  vendor: nullable(Type.String({ description: "The vendor, if known." })),
  base_url: nullable(Type.String()),
  allow_private: Type.Boolean(),
  paused: Type.Boolean({ description: "Whether its routes are skipped." }),
  status,
  api_key: nullable(secret),
  keys: Type.Array(keyView, { description: "All keys, including the one in `api_key`." }),
  last_24h: nullable(lastDay),
  models: Type.Array(Type.Object({ id: Type.String(), upstream: Type.Array(Type.String()) }), {
    description: "Models routed to this provider, each with its names there.",
  }),
  needs_price: Type.Array(Type.String(), {
    description: "Its models without a complete price. They are not served until they have one.",
  }),
  source,
};
const providerView = Type.Object({
  ...provider,
  options: Type.Record(Type.String(), Type.Union([Type.String(), secret])),
  targets: nullable(Type.Array(target, { description: "Null if the gateway is not running." })),
});
export type ProviderView = View<typeof providerView>;

export const providerReply = Type.Object({
  ...provider,
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      value: nullable(Type.String({ description: "Null for a secret." })),
      secret: nullable(secret),
    }),
  ),
  targets: Type.Array(target),
});

/** A vendor, for a form: what it needs to be called. */
export const vendor = Type.Object({
  id: Type.String(),
  title: Type.String(),
  kind: Type.String(),
  base_url: nullable(
    Type.String({
      description: "Replace `{name}` with your own value. Null if the kind builds the URL itself.",
    }),
  ),
  on_this_machine: Type.Boolean(),
  variables: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() }), {
    description: "Environment variables that usually hold its key, and whether each is set.",
  }),
  needs_key: Type.Boolean(),
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      about: Type.String(),
      needed: Type.Boolean(),
      secret: Type.Boolean(),
      variable: nullable(
        Type.String({ description: "Variable to read it from if it is omitted." }),
      ),
    }),
  ),
});
export type VendorView = View<typeof vendor>;

const trouble = Type.Object(
  {
    trouble: Type.String({ description: "For programs: bad_key, no_credit, wrong_address, …" }),
    what: Type.String(),
    advice: Type.String(),
  },
  { description: "What is wrong with a provider and what to do, for people." },
);
export type TroubleView = View<typeof trouble>;

const routed = Type.Object({
  model: Type.String({ description: "Model id in the gateway." }),
  upstream: Type.String({ description: "Model name in the route." }),
});
export type RoutedView = View<typeof routed>;
/** They may be shut down, or about to be. */
const unlisted = Type.Array(routed, {
  description: "Routes to models that the vendor does not list.",
});
export const listing = Type.Object({
  models: nullable(
    Type.Integer({
      description: "Number of models that the vendor lists; null if it has no list.",
    }),
  ),
  unlisted,
});
export type ListingView = View<typeof listing>;

export const trialKind = oneOf([
  "chat",
  "stream",
  "embeddings",
  "media",
  "speech",
  "transcription",
  "models",
]);
export const plannedTrial = Type.Object({
  kind: trialKind,
  model: nullable(Type.String()),
  key: nullable(Type.String({ description: "Name of the key, if the provider has several." })),
});
export type PlannedTrialView = View<typeof plannedTrial>;
export const trial = Type.Object({
  ...plannedTrial.properties,
  ok: Type.Boolean(),
  duration_ms: Type.Integer(),
  result: nullable(Type.String({ description: "Result, for people." })),
  problem: nullable(trouble),
  unlisted,
});
export type TrialView = View<typeof trial>;

const proposal = Type.Object({
  id: Type.String({ description: "Proposed model id for callers." }),
  upstream: Type.String(),
  endpoint: oneOf(endpoints),
  input: oneOf(["text", "media"]),
  price: nullable(prices),
  /** By all known classes, whatever the endpoint. */
  list_price: nullable(prices),
  note: nullable(Type.String()),
});
/** One model that could be served, with all that svc.yaml needs of it. Plain JSON. */
export interface Proposal extends View<typeof proposal> {
  readonly draft: ModelDraft;
  /** What the vendor asks, by its public list; null: not known. */
  readonly cost: View<typeof prices> | null;
}

/** How a model of a provider is served. */
const servedModel = fields({
  upstream: text({ least: 1, most: 200, about: "Model name at the provider." }),
  id: Type.Optional(text({ least: 1, most: 128, about: "Id for callers. Default: as proposed." })),
  endpoint: Type.Optional(oneOf(endpoints, { description: "Default: as proposed." })),
  input: Type.Optional(oneOf(["text", "media"])),
  price: Type.Optional(priceBody),
  markup: Type.Optional(
    text({ most: 20, about: "Percentage to add to the list price, for example 20 or 12.5." }),
  ),
  free: Type.Optional(Type.Boolean({ description: "Whether all classes cost 0." })),
});
export type ServedModel = Input<typeof servedModel>;

export const servedModels = fields({
  models: Type.Optional(
    Type.Array(servedModel, {
      minItems: 1,
      maxItems: mostServed,
      ...says(`a list of 1 to ${mostServed} models`),
    }),
  ),
  ids: Type.Optional(
    Type.Array(text({ least: 1, most: 128 }), {
      minItems: 1,
      maxItems: mostServed,
      ...says(`a list of 1 to ${mostServed} model ids`),
      description: "Proposed ids to add at list price, instead of `models`.",
    }),
  ),
});
export type ServedModels = Input<typeof servedModels>;

export const servedReply = Type.Object({
  served: Type.Array(Type.String(), { description: "Ids of the added models." }),
  needs_price: Type.Array(Type.String(), {
    description: "Added models without a known list price. They are served once they have a price.",
  }),
  warnings: Type.Array(Type.String()),
});

export const offer = Type.Object({
  proposals: Type.Array(proposal),
  left_out: Type.Integer({
    description: "Number of offered models that are not usable or already added.",
  }),
  unsupported: Type.Array(Type.String(), {
    description: "Offered models that no endpoint of the gateway can serve.",
  }),
  problem: nullable(trouble),
});
export interface OfferView extends View<typeof offer> {
  readonly proposals: readonly Proposal[];
  /** All that it lists and that could be served, routed or not; null: it does not tell. */
  readonly listed: readonly string[] | null;
}

const skip_test = Type.Optional(
  Type.Boolean({ description: "Whether to save without a test call, for a server that is down." }),
);
const save_anyway = Type.Optional(
  Type.Boolean({
    description: "Whether to save even if the test call fails. It is failing until a call works.",
  }),
);
const optionValues = Type.Record(Type.String(), text({ most: 20_000 }));

export const newProvider = fields({
  name: text({ least: 1, most: 63 }),
  vendor: Type.Optional(text({ most: 63, about: "A vendor id from GET /api/vendors." })),
  kind: Type.Optional(
    text({ most: 63, about: "Protocol, if no vendor is set, for example `openai`." }),
  ),
  base_url: Type.Optional(text({ most: 2_000 })),
  api_key: Type.Optional(text({ most: 20_000, about: "The key, or ${NAME} for a variable." })),
  allow_private: Type.Optional(Type.Boolean()),
  options: Type.Optional(optionValues),
  skip_test,
  save_anyway,
});
export type NewProvider = Input<typeof newProvider>;

/** What is not named stays; null takes it away. */
export const providerChanges = fields({
  kind: Type.Optional(oneOf(providerKinds)),
  base_url: Type.Optional(
    nullable(text({ most: 2_000, about: "Null: the default URL of the vendor." })),
  ),
  api_key: Type.Optional(
    nullable(
      text({
        most: 20_000,
        about: "The key, which is stored encrypted, or ${NAME} for a variable.",
      }),
    ),
  ),
  allow_private: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Record(Type.String(), nullable(text({ most: 20_000 })))),
  paused: Type.Optional(Type.Boolean({ description: "Whether its routes are skipped." })),
  skip_test,
  save_anyway,
});
export type ProviderChanges = Input<typeof providerChanges>;

const keyWeight = Type.Integer({ minimum: 0, maximum: mostKeyWeight });
const keyText = text({
  least: 1,
  most: 20_000,
  about: "The key, which is stored encrypted, or ${NAME} for a variable.",
});
export const newKey = fields({
  name: text({ least: 1, most: 63 }),
  api_key: keyText,
  weight: Type.Optional(keyWeight),
  skip_test,
  save_anyway,
});
export type NewKey = Input<typeof newKey>;

export const keyChanges = fields({
  name: Type.Optional(text({ least: 1, most: 63, about: "A new name." })),
  api_key: Type.Optional(keyText),
  weight: Type.Optional(keyWeight),
  paused: Type.Optional(Type.Boolean()),
  skip_test,
  save_anyway,
});
export type KeyChanges = Input<typeof keyChanges>;

export const removedProvider = Type.Object({
  name: Type.String(),
  routes: Type.Integer({ description: "Number of removed routes." }),
  emptied: Type.Array(Type.String(), { description: "Models left without a route." }),
});
export type RemovedProvider = View<typeof removedProvider>;

export const savedProvider = Type.Object({
  name: Type.String(),
  warnings: Type.Array(Type.String()),
  tested: Type.Boolean({ description: "Whether a test call worked before it was saved." }),
});
