import { Type } from "../../base/json/type.ts";
import { endpoints } from "../../call/endpoint.ts";
import type { voices } from "../../call/speak.ts";
import { mostAliases } from "../../catalog/aliases.ts";
import { modelStates, targetStates } from "../../catalog/state.ts";
import {
  fields,
  type Input,
  moment,
  nullable,
  oneOf,
  priceBody,
  prices,
  source,
  text,
  type View,
} from "../http/schemas.ts";
import { freshnessFields } from "../reports/freshness.ts";

const voiceMap = Type.Union([
  Type.Literal("same"),
  fields({
    Kore: text({ least: 1, most: 200 }),
    Puck: text({ least: 1, most: 200 }),
    Charon: text({ least: 1, most: 200 }),
    Fenrir: text({ least: 1, most: 200 }),
    Aoede: text({ least: 1, most: 200 }),
  } satisfies Record<(typeof voices)[number], unknown>),
]);

/** One way to a model, with how it is doing. */
const routeReply = Type.Object({
  provider: Type.String(),
  model: Type.String({ description: "Model name at the provider." }),
  priority: Type.Integer({ description: "Lower values are tried first." }),
  weight: Type.Integer({ description: "Share of traffic among routes of the same priority." }),
  voices: nullable(voiceMap),
  dimensions: nullable(
    oneOf(["own", "3072"], {
      description: "Embeddings only: whether vectors have 3,072 dimensions by default.",
    }),
  ),
  cost: nullable(prices),
  cost_in_file: Type.Boolean({
    description: "Whether the file that defines the routes also sets the cost.",
  }),
  state: oneOf(targetStates),
  breaker: nullable(
    oneOf(["closed", "open", "half-open", "resting"], { description: "Null: not called yet." }),
  ),
  usable: Type.Boolean({
    description: "False for an embedded model while the embedded models are switched off.",
  }),
});
export type RouteView = View<typeof routeReply>;

const seconds = Type.Number({ description: "Seconds." });

const status = oneOf(["active", "deprecated", "retired"]);
const retirement = {
  deprecated_at: nullable(moment()),
  retires_at: nullable(moment()),
  replacement: nullable(Type.String()),
};

const model = {
  id: Type.String(),
  aliases: Type.Array(Type.String(), {
    description: "Further ids that callers can use for the model.",
  }),
  endpoint: oneOf(endpoints),
  input: oneOf(["text", "media"], { description: "Input type of an embeddings model." }),
  owned_by: Type.String(),
  status,
  price: nullable(prices),
  max_output_tokens: nullable(Type.Integer()),
  ...retirement,
};

/** What members of an account see. */
export const callableModel = Type.Object({
  ...model,
  keys: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: "Active keys of the account that can use the model.",
  }),
});

const kept = {
  ...model,
  state: nullable(
    oneOf(modelStates, {
      description:
        "`serving`: a target has answered. `untested`: none has been called yet. Null for a retired model.",
    }),
  ),
  served: Type.Boolean({
    description: "Whether callers can use it: it has a price and a route and is not retired.",
  }),
  source,
};

const modelView = Type.Object({
  ...kept,
  routes: Type.Array(Type.String(), { description: "As provider/model, for people." }),
  route_list: Type.Array(Type.Object({ provider: Type.String(), model: Type.String() })),
});
export type ModelView = View<typeof modelView>;

export const entry = Type.Object({
  ...kept,
  created_at: moment(),
  not_served_because: nullable(
    Type.String({ description: "Reason, for people; null if the model is served." }),
  ),
  coming: Type.Array(Type.Object({ price: nullable(prices), effective_at: moment() }), {
    description: "Scheduled prices.",
  }),
  classes: Type.Array(Type.Object({ name: Type.String(), needed: Type.Boolean() }), {
    description: "Price classes of this model.",
  }),
  routes: Type.Array(routeReply),
  context_length: nullable(Type.Integer()),
  max_image_tokens: nullable(Type.Integer()),
  max_audio_seconds: nullable(Type.Integer()),
  timeouts: Type.Object(
    {
      connect: nullable(seconds),
      first_byte: nullable(seconds),
      idle: nullable(seconds),
      total: nullable(seconds),
    },
    { description: "Null: the defaults apply." },
  ),
});
export type CatalogEntryView = View<typeof entry>;

export const removedModel = Type.Object({
  id: Type.String(),
  keys: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: "Keys that are limited to models and still name the deleted one.",
  }),
});
export type RemovedModel = View<typeof removedModel>;

const caller = Type.Object({
  account: Type.String(),
  account_name: nullable(Type.String()),
  key: nullable(Type.String({ description: "Null for temporary keys of the account." })),
  key_name: nullable(Type.String()),
  receipts: Type.Integer(),
  last_day: Type.String(),
});
export type LifecycleCaller = View<typeof caller>;

const calls = {
  model: Type.String(),
  status,
  receipts: Type.Integer({
    description: "Number of receipts since deprecation, at most one year back.",
  }),
  callers: Type.Array(caller, { description: "Most recent caller first." }),
  ...freshnessFields,
};
export const callersReply = Type.Object(calls);
const callersView = Type.Object({ ...calls, ...retirement });
/** A model that is on its way out, and who still calls it. */
export type LifecycleCallersView = View<typeof callersView>;

export const routeBody = fields({
  provider: text({ least: 1, most: 63 }),
  model: text({ least: 1, most: 200 }),
  priority: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  voices: Type.Optional(voiceMap),
  dimensions: Type.Optional(nullable(oneOf(["own", "3072"]))),
  cost: Type.Optional(nullable(priceBody)),
});
/** How a target is used. What is not named stays as it is, or has its default; null removes it. */
export type RouteChanges = Omit<RouteInput, "provider" | "model">;
export type RouteInput = Input<typeof routeBody>;

const count = (maximum: number) => Type.Optional(nullable(Type.Integer({ minimum: 1, maximum })));

const timeout = Type.Optional(nullable(Type.Number({ minimum: 0.1, maximum: 86_400 })));

/** What is not named stays; null takes it away. */
const modelFields = {
  aliases: Type.Optional(
    Type.Array(text({ least: 1, most: 128 }), {
      maxItems: mostAliases,
      description: "Further ids that callers can use for the model.",
    }),
  ),
  endpoint: Type.Optional(model.endpoint),
  input: Type.Optional(model.input),
  owned_by: Type.Optional(text({ least: 1, most: 100 })),
  context_length: count(10_000_000),
  max_output_tokens: count(10_000_000),
  max_image_tokens: count(1_000_000),
  max_audio_seconds: count(1_000_000),
  timeouts: Type.Optional(
    nullable(
      fields({
        connect: timeout,
        first_byte: timeout,
        idle: timeout,
        total: timeout,
      }),
    ),
  ),
};

export const modelChanges = fields(modelFields);

/** Commands send words as they were typed; they are checked when the draft is read. */
type Typed<T> = Omit<T, "endpoint" | "input"> & {
  readonly endpoint?: string | undefined;
  readonly input?: string | undefined;
};
export type ModelChanges = Typed<Input<typeof modelChanges>>;
export type TimeoutChanges = NonNullable<ModelChanges["timeouts"]>;

export const newModel = fields({
  id: text({ least: 1, most: 128 }),
  ...modelFields,
  price: Type.Optional(priceBody),
  routes: Type.Optional(Type.Array(routeBody, { maxItems: 50 })),
});
export type NewModel = Typed<Input<typeof newModel>>;
