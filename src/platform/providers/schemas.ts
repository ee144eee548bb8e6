import { Type } from "typebox";
import { fields, moment, nullable, oneOf, source, text } from "../http/schemas.ts";

const secret = Type.Object({
  from: oneOf(["variable", "store"]),
  variable: nullable(Type.String({ description: "The variable's name." })),
  is_set: Type.Boolean({ description: "Whether it is there where the gateway runs." }),
});

const target = Type.Object({
  model: Type.String({ description: "By the upstream's own name." }),
  state: oneOf(["closed", "open", "half-open", "resting"]),
  reason: nullable(Type.String()),
  since: nullable(moment()),
  until: nullable(moment()),
  requests: Type.Integer({ description: "Of the last seconds." }),
  failures: Type.Integer(),
});

export const provider = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  vendor: nullable(Type.String()),
  base_url: nullable(Type.String()),
  allow_private: Type.Boolean(),
  api_key: nullable(secret),
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      value: nullable(Type.String({ description: "Null for a secret." })),
      secret: nullable(secret),
    }),
  ),
  models: Type.Array(Type.Object({ id: Type.String(), upstream: Type.Array(Type.String()) })),
  source,
  targets: Type.Array(target),
});

export const vendor = Type.Object({
  id: Type.String(),
  title: Type.String(),
  kind: Type.String(),
  base_url: nullable(Type.String()),
  on_this_machine: Type.Boolean(),
  variables: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() })),
  needs_key: Type.Boolean(),
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      about: Type.String(),
      needed: Type.Boolean(),
      secret: Type.Boolean(),
      variable: nullable(Type.String()),
    }),
  ),
});

const trouble = Type.Object({
  trouble: Type.String({ description: "For machines: bad_key, no_credit, wrong_address …" }),
  what: Type.String(),
  advice: Type.String(),
});

export const unlisted = Type.Array(
  Type.Object({
    model: Type.String({ description: "Our name of the model." }),
    upstream: Type.String({ description: "The name that its route has." }),
  }),
  { description: "Routes to models that the vendor does not list." },
);

export const trialKinds = ["chat", "stream", "embeddings", "media", "speech", "models"] as const;
export const trial = Type.Object({
  kind: oneOf(trialKinds),
  model: nullable(Type.String()),
  ok: Type.Boolean(),
  duration_ms: Type.Integer(),
  result: nullable(Type.String()),
  problem: nullable(trouble),
  unlisted,
});

const prices = nullable(Type.Record(Type.String(), Type.String()));
export const offer = Type.Object({
  proposals: Type.Array(
    Type.Object({
      id: Type.String({ description: "What callers would name it." }),
      upstream: Type.String(),
      endpoint: Type.String(),
      input: Type.String(),
      price: prices,
      note: nullable(Type.String()),
    }),
  ),
  left_out: Type.Integer({ description: "Offered, but not of use here, or there already." }),
  problem: nullable(trouble),
});

const optionValues = Type.Record(Type.String(), text({ most: 20_000 }));

export const newProvider = fields({
  name: text({ least: 1, most: 63 }),
  vendor: Type.Optional(text({ most: 63, about: "One of /api/vendors." })),
  kind: Type.Optional(text({ most: 63, about: "How it is called, without a vendor: `ai-sdk`." })),
  base_url: Type.Optional(text({ most: 2_000 })),
  api_key: Type.Optional(text({ most: 20_000, about: "The key itself, or ${NAME}." })),
  allow_private: Type.Optional(Type.Boolean()),
  options: Type.Optional(optionValues),
});

/** What is not named stays; null takes it away. */
export const providerChanges = fields({
  base_url: Type.Optional(
    nullable(text({ most: 2_000, about: "Null: where its vendor usually is." })),
  ),
  api_key: Type.Optional(
    nullable(text({ most: 20_000, about: "The key itself, which is kept encrypted, or ${NAME}." })),
  ),
  allow_private: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Record(Type.String(), nullable(text({ most: 20_000 })))),
});

export const savedProvider = Type.Object({
  name: Type.String(),
  warnings: Type.Array(Type.String()),
});
