import { Type } from "../../base/json/type.ts";
import { route } from "../context.ts";
import { fields, oneOf, text } from "../http/schemas.ts";
import { timeZoneField } from "../input/days.ts";
import { marginReply } from "./schemas.ts";

const day = text({ most: 10, about: "Day, for example 2027-01-31; inclusive." });

export const marginRoutes = [
  route("GET /api/margin", {
    about:
      "Compares what callers paid with vendor costs, for a range of days (default: this month).",
    access: "operator",
    area: "prices",
    query: fields({
      by: Type.Optional(oneOf(["model", "account", "provider"])),
      from: Type.Optional(day),
      to: Type.Optional(day),
      time_zone: Type.Optional(timeZoneField),
    }),
    reply: marginReply,
    handle: ({ operations }, { query }) => operations.reports.margin(query),
  }),
] as const;
