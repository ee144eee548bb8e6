import { Type } from "../../base/json/type.ts";
import { nullable, usd, type View } from "../http/schemas.ts";
import { freshnessFields } from "./freshness.ts";

const rowReply = Type.Object({
  name: Type.String(),
  receipts: Type.Integer(),
  charged_usd: usd("Amount charged to callers."),
  vendor_cost_usd: nullable(
    usd("Vendor cost of the receipts whose cost is known; null if no cost is known."),
  ),
  margin_usd: nullable(
    usd("`charged_known_usd` less `vendor_cost_usd`; null if no cost is known."),
  ),
  margin_percent: nullable(
    Type.String({ description: "Percentage of `charged_known_usd`; null if it is unknown." }),
  ),
  charged_known_usd: usd("Amount charged for the receipts whose vendor cost is known."),
  known_cost: Type.Integer({
    description:
      "Number of receipts whose vendor cost is known. Calls that reached no vendor cost nothing.",
  }),
  unknown_cost: Type.Integer({
    description: "Number of receipts whose vendor cost is unknown. The margin leaves them out.",
  }),
  shortfall_usd: usd("Cost of calls beyond what could be charged."),
});
export type MarginRow = View<typeof rowReply>;

export const marginReply = Type.Object({
  by: Type.String(),
  from: Type.String({ description: "First and last day, both inclusive." }),
  to: Type.String(),
  time_zone: Type.String({ description: "Time zone of the days." }),
  ...freshnessFields,
  rows: Type.Array(rowReply),
  total: rowReply,
});
export type MarginView = View<typeof marginReply>;
