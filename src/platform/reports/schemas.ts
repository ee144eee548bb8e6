import { Type } from "typebox";
import { nullable, usd, type View } from "../http/schemas.ts";

const rowReply = Type.Object({
  name: Type.String(),
  receipts: Type.Integer(),
  charged_usd: usd("What callers paid."),
  vendor_cost_usd: usd("What vendors ask, of the receipts whose cost is known."),
  margin_usd: usd("What is left."),
  margin_percent: nullable(
    Type.String({ description: "Of what was charged; null where there is nothing to go by." }),
  ),
  unknown_cost: Type.Integer({
    description: "Receipts of which nobody said what the vendor asks.",
  }),
  shortfall_usd: usd("What calls cost beyond what could be taken."),
});
export type MarginRow = View<typeof rowReply>;

export const marginReply = Type.Object({
  by: Type.String(),
  from: Type.String({ description: "The first day and the last, both counted." }),
  to: Type.String(),
  rows: Type.Array(rowReply),
  total: rowReply,
});
export type MarginView = View<typeof marginReply>;
