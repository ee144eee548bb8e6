import { Type } from "typebox";
import { route } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { billingReply } from "./schemas.ts";

export const billingRoutes = [
  route("GET /api/accounts/:account/billing", {
    about: "Balance, ledger of a month, spend and forecast of an account.",
    access: "viewer",
    area: "billing",
    query: fields({ month: Type.Optional(text({ most: 7, about: "Such as 2027-01." })) }),
    reply: billingReply,
    handle: ({ operations, account, inTurn }, { query }) =>
      inTurn(() => operations.billing.show({ ...query, account: account.id })),
  }),
] as const;
