import { Type } from "../../base/json/type.ts";
import { route } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { timeZoneField } from "../input/days.ts";
import { billingReply } from "./schemas.ts";

export const billingRoutes = [
  route("GET /api/accounts/:account/billing", {
    about: "Shows the balance, monthly ledger, spend and forecast of an account.",
    access: "viewer",
    area: "billing",
    query: fields({
      month: Type.Optional(text({ most: 7, about: "Month as YYYY-MM, for example 2027-01." })),
      time_zone: Type.Optional(timeZoneField),
    }),
    reply: billingReply,
    handle: ({ operations, account, inTurn }, { query }) =>
      inTurn(() => operations.billing.show({ ...query, account: account.id })),
  }),
] as const;
