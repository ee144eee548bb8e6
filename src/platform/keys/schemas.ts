import { Type } from "../../base/json/type.ts";
import {
  budgetReply,
  limitsReply,
  moment,
  nullable,
  oneOf,
  usd,
  type View,
} from "../http/schemas.ts";

const key = {
  id: Type.String(),
  account: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "A masked form of the secret." }),
  models: nullable(Type.Array(Type.String(), { description: "Null: all models." })),
  status: oneOf(["active", "paused", "expired", "revoked"]),
  created_at: moment(),
  expires_at: nullable(moment()),
  revoked_at: nullable(moment()),
  paused_at: nullable(moment("Null unless paused.")),
  created_by: nullable(Type.String({ description: "Name of the creator; null in older keys." })),
  last_used_at: nullable(moment("Start of the last call; null if never used.")),
  last_rejected_at: nullable(
    moment("Start of the last call that was rejected before admission; null if there was none."),
  ),
  rejected_last_hour: Type.Array(
    Type.Object({
      status: Type.Integer(),
      code: Type.String(),
      count: Type.Integer(),
    }),
    { description: "Calls rejected in the last hour by reason, most frequent first." },
  ),
  previous: nullable(
    Type.Object(
      { hint: Type.String(), expires_at: moment() },
      { description: "The secret before the last rotation, while it still works." },
    ),
  ),
  limits: limitsReply,
};
export const keyReply = Type.Object(key);
export type KeyView = View<typeof keyReply>;
export type FoundKey = Pick<KeyView, "id" | "account" | "name" | "hint">;

const warnings = Type.Array(Type.String(), {
  description: "For example, a listed model that does not exist yet.",
});
export const changedReply = Type.Object({ ...key, warnings });
export const listedReply = Type.Object({
  ...key,
  budget: nullable(budgetReply),
  spent_usd: nullable(usd("Amount charged this month, in UTC; null if it cannot be read now.")),
  spent_as_of: nullable(
    moment("Every call that ended before this time is in `spent_usd`; null if all calls are."),
  ),
});
/** The one place where a key's secret is shown. */
export const newKeyReply = Type.Object({
  ...key,
  key: Type.String({ description: "The secret, shown only once." }),
  warnings,
});
export type NewKeyView = View<typeof newKeyReply>;
