import { Type } from "typebox";
import { route } from "../context.ts";
import { fields, oneOf, text } from "../http/schemas.ts";
import { marginReply } from "./schemas.ts";

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
    reply: marginReply,
    handle: ({ operations }, { query }) => operations.reports.margin(query),
  }),
] as const;
