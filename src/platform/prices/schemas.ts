import { Type } from "typebox";
import { moment, nullable, prices, type View } from "../http/schemas.ts";

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
