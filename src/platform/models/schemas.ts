import { Type } from "typebox";
import { type PriceKey, priceKeys } from "../../call/price.ts";
import type { voices } from "../../call/speak.ts";
import { fields, moment, nullable, oneOf, source, text } from "../http/schemas.ts";

const usd = Type.Optional(text({ most: 40 }));

const prices = Type.Record(Type.String(), Type.String(), {
  description: "USD: a million tokens, an image, a second of video.",
});

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

const routeReply = Type.Object({
  provider: Type.String(),
  model: Type.String({ description: "By the upstream's own name." }),
  priority: Type.Integer({ description: "The lowest is asked first." }),
  weight: Type.Integer({ description: "The share among those of one priority." }),
  voices: nullable(voiceMap),
  dimensions: nullable(
    oneOf(["own", "3072"], {
      description: "Of embeddings: whether 3,072 numbers are asked for by default.",
    }),
  ),
  cost: nullable(prices),
  cost_in_file: Type.Boolean({
    description: "Whether the file that defines the routes states the cost, too.",
  }),
  state: nullable(oneOf(["closed", "open", "half-open", "resting"])),
  usable: Type.Boolean(),
});

const seconds = Type.Integer({ description: "Seconds." });

export const entry = Type.Object({
  id: Type.String(),
  endpoint: oneOf(["chat", "embeddings", "speech"]),
  input: oneOf(["text", "media"]),
  owned_by: Type.String(),
  created_at: moment(),
  status: oneOf(["active", "deprecated", "retired"]),
  served: Type.Boolean(),
  not_served_because: nullable(Type.String()),
  price: nullable(prices),
  coming: Type.Array(Type.Object({ price: nullable(prices), effective_at: moment() })),
  classes: Type.Array(Type.Object({ name: Type.String(), needed: Type.Boolean() })),
  routes: Type.Array(routeReply),
  context_length: nullable(Type.Integer()),
  max_output_tokens: nullable(Type.Integer()),
  max_image_tokens: nullable(Type.Integer()),
  max_audio_seconds: nullable(Type.Integer()),
  timeouts: Type.Object({
    connect: nullable(seconds),
    first_byte: nullable(seconds),
    idle: nullable(seconds),
    total: nullable(seconds),
  }),
  source,
  deprecated_at: nullable(moment()),
  retires_at: nullable(moment()),
  replacement: nullable(Type.String()),
});

const costs = Type.Optional(
  nullable(
    fields(Object.fromEntries(priceKeys.map((key) => [key, usd])) as Record<PriceKey, typeof usd>, {
      description: "What the vendor asks, in USD by class.",
    }),
  ),
);

/** What is not named stays as it is, or has its default; null removes it. */
const routeFields = {
  priority: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  voices: Type.Optional(voiceMap),
  dimensions: Type.Optional(nullable(oneOf(["own", "3072"]))),
  cost: costs,
};

export const routeBody = fields({
  provider: text({ least: 1, most: 63 }),
  model: text({ least: 1, most: 200 }),
  ...routeFields,
});

const count = (maximum: number) => Type.Optional(nullable(Type.Integer({ minimum: 1, maximum })));

/** What is not named stays; null takes it away. */
const modelFields = {
  endpoint: Type.Optional(oneOf(["chat", "embeddings", "speech"])),
  input: Type.Optional(oneOf(["text", "media"], { description: "What embeddings take." })),
  owned_by: Type.Optional(text({ least: 1, most: 100 })),
  context_length: count(10_000_000),
  max_output_tokens: count(10_000_000),
  max_image_tokens: count(1_000_000),
  max_audio_seconds: count(1_000_000),
  timeouts: Type.Optional(
    nullable(
      fields({
        connect: count(86_400),
        first_byte: count(86_400),
        idle: count(86_400),
        total: count(86_400),
      }),
    ),
  ),
};

export const modelChanges = fields(modelFields);

export const newModel = fields({
  id: text({ least: 1, most: 128 }),
  ...modelFields,
  price: Type.Optional(
    fields(Object.fromEntries(priceKeys.map((key) => [key, usd])) as Record<PriceKey, typeof usd>),
  ),
  routes: Type.Optional(Type.Array(routeBody, { maxItems: 50 })),
});
