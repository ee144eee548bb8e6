import { Type } from "typebox";
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

const state = {
  id: Type.String(),
  name: Type.String(),
  created_at: moment(),
  status: oneOf(["active", "suspended"]),
  keys: Type.Integer({ description: "Those that are not revoked." }),
  balance_usd: usd("What it has, with what is held for calls under way."),
  limits: limitsReply,
};

/** Money is decimal text in USD, with every digit there is; times are in UTC. */
export const accountReply = Type.Object(state);
export type AccountView = View<typeof accountReply>;

export const listedReply = Type.Object({
  ...state,
  spent_month_usd: nullable(usd("In this month of UTC, where it was asked for.")),
});

export const balanceReply = Type.Object({
  ...state,
  held_usd: usd("Kept back for calls under way."),
  free_usd: usd("What a new call may still use."),
  budget: nullable(budgetReply),
});

export type AccountBalanceView = View<typeof balanceReply>;

const spent = { receipts: Type.Integer(), charged_usd: usd("What callers paid.") };
const spentReply = Type.Object(spent);

const spendReply = Type.Object({
  by_day: Type.Array(Type.Object({ day: Type.String(), ...spent })),
  by_model: Type.Array(Type.Object({ model: Type.String(), ...spent })),
  by_key: Type.Array(
    Type.Object({
      key: Type.String({ description: "An id, or `temporary` for those that no list shows." }),
      name: nullable(Type.String()),
      ...spent,
    }),
  ),
});
export type AccountSpendView = View<typeof spendReply>;
export type SpendView = View<typeof spentReply>;

export const detailsReply = Type.Object({
  ...balanceReply.properties,
  receipts: Type.Integer({ description: "Since it was created." }),
  shortfall_usd: usd("What calls cost beyond what could be taken."),
  ...spendReply.properties,
  key_list: Type.Array(Type.Pick(keyReply, ["id", "name", "hint", "status", "last_used_at"])),
  members: Type.Array(Type.Omit(member, ["joined_at"])),
});

export const amount = Type.String({
  pattern: "^(?=.*[1-9])\\d{1,9}(\\.\\d{1,9})?$",
  description: "USD, as decimal text with at most 9 digits after the point.",
  ...says("an amount in USD, above 0, such as 25 or 0.50"),
});

const entry = {
  id: Type.String(),
  kind: oneOf(entryKinds),
  amount_usd: usd("Below zero for a withdrawal."),
  reference: Type.String(),
  note: Type.String(),
  created_at: moment(),
};
const entryView = Type.Object({ ...entry, account: Type.String() });
export type EntryView = View<typeof entryView>;

export const entryReply = Type.Object({
  ...entry,
  repeated: Type.Boolean({
    description: "True when the reference was there already and nothing was changed.",
  }),
  balance_usd: usd("After it."),
});
