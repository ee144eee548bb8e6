import { Type } from "typebox";
import type { MarginRow } from "../accounts/money-views.ts";
import { route } from "../context.ts";
import { fields, nullable, oneOf, text, usd } from "../http/schemas.ts";

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

const day = text({ most: 10, about: "A day of UTC, such as 2027-01-31; counted whole." });

export const marginRoutes = [
  route("GET /api/margin", {
    about: "What callers paid beside what vendors ask, by days; this month unless told.",
    access: "operator",
    area: "prices",
    query: fields({
      by: Type.Optional(oneOf(["model", "account", "provider"])),
      from: Type.Optional(day),
      to: Type.Optional(day),
    }),
    reply: Type.Object({
      by: Type.String(),
      from: Type.String(),
      to: Type.String(),
      rows: Type.Array(rowReply),
      total: rowReply,
    }),
    async handle({ operations }, { query }) {
      const { by, from, to, rows, total } = await operations.reports.margin(query);
      return { by, from, to, rows: rows.map(toRow), total: toRow(total) };
    },
  }),
] as const;

function toRow(row: MarginRow) {
  return {
    name: row.name,
    receipts: row.receipts,
    charged_usd: row.charged_usd,
    vendor_cost_usd: row.vendor_cost_usd,
    margin_usd: row.margin_usd,
    margin_percent: row.margin_percent,
    unknown_cost: row.unknown_cost,
    shortfall_usd: row.shortfall_usd,
  };
}
