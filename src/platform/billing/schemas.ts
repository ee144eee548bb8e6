import { Type } from "../../base/json/type.ts";
import { moment, nullable, usd, type View } from "../http/schemas.ts";
import { freshnessFields } from "../reports/freshness.ts";

const spend = { receipts: Type.Integer(), charged_usd: usd("") };

/** Money in or out, or what one model cost on one day. */
const lineReply = Type.Object({
  kind: Type.String({ description: "credit, withdrawal, refund, … or usage." }),
  at: Type.String({ description: "Date and time; for usage, the day." }),
  amount_usd: usd("Amount; negative for money out."),
  balance_usd: usd("Balance after this line."),
  reference: nullable(Type.String()),
  note: nullable(Type.String()),
  model: nullable(Type.String()),
  receipts: nullable(Type.Integer()),
});
export type LedgerLine = View<typeof lineReply>;

/** A month of an account. */
const ledgerReply = Type.Object({
  month: Type.String({ description: "Month as YYYY-MM, for example 2027-01." }),
  previous_month: nullable(Type.String()),
  next_month: nullable(Type.String()),
  opening_usd: usd("Balance before the first line."),
  closing_usd: usd("Balance after the last line."),
  lines: Type.Array(lineReply, { description: "Newest first." }),
});
export type LedgerPage = View<typeof ledgerReply>;

export const billingReply = Type.Object({
  account: Type.String(),
  time_zone: Type.String({ description: "Time zone of months and days." }),
  ...freshnessFields,
  balance_usd: usd("Current balance: the sum of all lines."),
  held_usd: usd("Amount held for calls in flight."),
  free_usd: usd("Amount available to new calls."),
  ledger: ledgerReply,
  spend: Type.Object({
    month: Type.String(),
    ...spend,
    by_model: Type.Array(Type.Object({ model: Type.String(), ...spend })),
  }),
  forecast_usd: nullable(usd("Projected spend of this month.")),
  forecast_basis: Type.String({ description: "How the forecast is calculated, for people." }),
  runs_out_at: nullable(moment("When the balance runs out at this pace.")),
});
export type BillingView = View<typeof billingReply>;
