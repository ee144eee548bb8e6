import { Type } from "typebox";
import { moment, nullable, usd, type View } from "../http/schemas.ts";

const spend = { receipts: Type.Integer(), charged_usd: usd("") };

/** Money in or out, or what one model cost on one day. */
const lineReply = Type.Object({
  kind: Type.String({ description: "credit, withdrawal, refund, … or usage." }),
  at: Type.String({ description: "A moment; for what was used, the day." }),
  amount_usd: usd("Below zero for what went out."),
  balance_usd: usd("After this line."),
  reference: nullable(Type.String()),
  note: nullable(Type.String()),
  model: nullable(Type.String()),
  receipts: nullable(Type.Integer()),
});
export type LedgerLine = View<typeof lineReply>;

/** A month of an account. */
const ledgerReply = Type.Object({
  month: Type.String({ description: "Such as 2027-01." }),
  previous_month: nullable(Type.String()),
  next_month: nullable(Type.String()),
  opening_usd: usd("Before its first line."),
  closing_usd: usd("After its last line."),
  lines: Type.Array(lineReply, { description: "The newest first." }),
});
export type LedgerPage = View<typeof ledgerReply>;

export const billingReply = Type.Object({
  account: Type.String(),
  balance_usd: usd("What every line up to now adds up to."),
  held_usd: usd("Set aside for calls under way."),
  free_usd: usd("What a new call may still use."),
  ledger: ledgerReply,
  spend: Type.Object({
    month: Type.String(),
    ...spend,
    by_model: Type.Array(Type.Object({ model: Type.String(), ...spend })),
  }),
  forecast_usd: nullable(usd("What this month will have cost.")),
  forecast_basis: Type.String({ description: "How it is worked out, in words." }),
  runs_out_at: nullable(moment("When the balance will be used up at this pace.")),
});
export type BillingView = View<typeof billingReply>;
