import { Type } from "typebox";
import { nullable, usd, type View } from "../http/schemas.ts";

const rowReply = Type.Object({
  name: Type.String(),
  receipts: Type.Integer(),
  charged_usd: usd("Amount charged to callers."),
  vendor_cost_usd: usd("Vendor cost of the receipts whose cost is known."),
  margin_usd: usd("Margin."),
  margin_percent: nullable(
    Type.String({ description: "Percentage of the charged amount; null if it is unknown." }),
  ),
  unknown_cost: Type.Integer({
    description: "Number of receipts whose vendor cost is unknown.",
  }),
  shortfall_usd: usd("Cost of calls beyond what could be charged."),
});
export type MarginRow = View<typeof rowReply>;

export const marginReply = Type.Object({
  by: Type.String(),
  from: Type.String({ description: "First and last day, both inclusive." }),
  to: Type.String(),
  rows: Type.Array(rowReply),
  total: rowReply,
});
export type MarginView = View<typeof marginReply>;
