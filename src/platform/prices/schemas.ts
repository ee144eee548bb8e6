import { Type } from "../../base/json/type.ts";
import { endpoints } from "../../call/endpoint.ts";
import {
  fields,
  type Input,
  moment,
  nullable,
  oneOf,
  priceBody,
  prices,
  says,
  text,
  type View,
} from "../http/schemas.ts";

const mostModels = 500;

/** The price of all chosen models of one kind. */
const kindPrice = fields({
  endpoint: oneOf(endpoints),
  input: Type.Optional(oneOf(["text", "media"], { description: "Of embeddings. Default: text." })),
  price: priceBody,
});
export type KindPrice = Input<typeof kindPrice>;

const mostKinds = 4;

export const bulkBody = fields({
  models: Type.Array(text({ least: 1, most: 128 }), {
    minItems: 1,
    maxItems: mostModels,
    ...says(`a list of 1 to ${mostModels} model ids`),
  }),
  price: Type.Optional(priceBody),
  prices: Type.Optional(
    Type.Array(kindPrice, {
      minItems: 1,
      maxItems: mostKinds,
      ...says(`a list of 1 to ${mostKinds} prices, each with its endpoint`),
      description: "Instead of `price`: one price per endpoint, for models of several endpoints.",
    }),
  ),
  markup: Type.Optional(
    text({ most: 20, about: "Percentage to add to the list price, for example 20 or 12.5." }),
  ),
  free: Type.Optional(Type.Boolean({ description: "Whether all classes cost 0." })),
  from: Type.Optional(text({ most: 40, about: "Day or time in UTC. Default: now." })),
  dry_run: Type.Optional(Type.Boolean({ description: "Only show what would change." })),
});
export type BulkInput = Input<typeof bulkBody>;

export const bulkReply = Type.Object({
  changes: Type.Array(
    Type.Object({ model: Type.String(), before: nullable(prices), after: prices }),
  ),
  skipped: Type.Array(Type.Object({ model: Type.String(), reason: Type.String() })),
  applied: Type.Boolean(),
});
export type BulkView = View<typeof bulkReply>;

export const priceRow = Type.Object({
  model: Type.String(),
  version: nullable(Type.Integer({ description: "Null if the model never had a price." })),
  price: nullable(prices),
  effective_at: nullable(moment("UTC; null for the first price, which applies from the start.")),
  in_force: Type.Boolean(),
});

export type PriceRow = View<typeof priceRow>;

const place = {
  model: Type.String(),
  route: nullable(
    Type.String({ description: "The route whose cost it is; null for the price of the model." }),
  ),
};
export const importReply = Type.Object({
  set: Type.Array(Type.Object({ ...place, price: prices, source: Type.String() })),
  left: Type.Array(
    Type.Object({
      ...place,
      reason: Type.String(),
      replaceable: Type.Boolean({ description: "`replace` would overwrite it." }),
    }),
  ),
  unknown: Type.Array(Type.Object({ ...place, reason: Type.String() })),
  notes: Type.Array(Type.Object({ ...place, note: Type.String() })),
  applied: Type.Boolean(),
});
export type ImportView = View<typeof importReply>;
