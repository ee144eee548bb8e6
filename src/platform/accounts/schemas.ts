import { Type } from "../../base/json/type.ts";
import { entryKinds } from "../../ledger/store.ts";
import {
  budgetReply,
  limitsReply,
  moment,
  nullable,
  oneOf,
  says,
  usd,
  type View,
} from "../http/schemas.ts";
import { keyReply } from "../keys/schemas.ts";
import { member } from "../members/schemas.ts";
import { freshnessFields } from "../reports/freshness.ts";
import { storedReply } from "../responses/schemas.ts";

const state = {
  id: Type.String(),
  name: Type.String(),
  created_at: moment(),
  status: oneOf(["active", "suspended"]),
  keys: Type.Integer({ description: "Number of keys that are not revoked." }),
  balance_usd: usd("Balance, including the amount held for calls in flight."),
  limits: limitsReply,
  receipts_days: nullable(
    Type.Integer({
      description: "Days that its receipts are kept; null: for as long as those of all accounts.",
    }),
  ),
};

/** Money is decimal text in USD, with every digit there is; times are in UTC. */
export const accountReply = Type.Object(state);
export type AccountView = View<typeof accountReply>;

export const listedReply = Type.Object({
  ...state,
  spent_month_usd: nullable(usd("Spend of the current month (UTC), if requested.")),
});

export const balanceReply = Type.Object({
  ...state,
  held_usd: usd("Amount held for calls in flight."),
  free_usd: usd("Amount available to new calls."),
  budget: nullable(budgetReply),
});

export type AccountBalanceView = View<typeof balanceReply>;

const spent = { receipts: Type.Integer(), charged_usd: usd("Amount charged to the account.") };
const spentReply = Type.Object(spent);

const spendReply = Type.Object({
  by_day: Type.Array(Type.Object({ day: Type.String(), ...spent })),
  by_model: Type.Array(Type.Object({ model: Type.String(), ...spent })),
  by_key: Type.Array(
    Type.Object({
      key: Type.String({ description: "A key id, or `temporary` for keys that are not listed." }),
      name: nullable(Type.String()),
      ...spent,
    }),
  ),
});
export type AccountSpendView = View<typeof spendReply>;
export type SpendView = View<typeof spentReply>;

export const detailsReply = Type.Object({
  ...balanceReply.properties,
  ...freshnessFields,
  receipts: Type.Integer({ description: "Number of receipts since the account was created." }),
  shortfall_usd: usd("Cost of calls beyond what could be charged."),
  ...spendReply.properties,
  stored_responses: storedReply,
  key_list: Type.Array(
    Type.Pick(keyReply, ["id", "name", "hint", "status", "last_used_at", "last_rejected_at"]),
  ),
  members: Type.Array(Type.Omit(member, ["joined_at"])),
});

export const amount = Type.String({
  pattern: "^(?=.*[1-9])\\d{1,9}(\\.\\d{1,9})?$",
  description: "USD, as a decimal string with at most 9 decimal places.",
  ...says("an amount in USD greater than 0, such as 25 or 0.50"),
});

const entry = {
  id: Type.String(),
  kind: oneOf(entryKinds),
  amount_usd: usd("Amount; negative for a withdrawal."),
  reference: Type.String(),
  note: Type.String(),
  created_at: moment(),
};
const entryView = Type.Object({ ...entry, account: Type.String() });
export type EntryView = View<typeof entryView>;

export const entryReply = Type.Object({
  ...entry,
  repeated: Type.Boolean({
    description: "True if the reference already existed and nothing was changed.",
  }),
  balance_usd: usd("Balance after this entry."),
});
