import { Type } from "typebox";
import { budgetReply, limitsReply, moment, nullable, oneOf, type View } from "../http/schemas.ts";

const key = {
  id: Type.String(),
  account: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "A masked form of the secret." }),
  models: nullable(Type.Array(Type.String(), { description: "Null: all models." })),
  status: oneOf(["active", "expired", "revoked"]),
  created_at: moment(),
  expires_at: nullable(moment()),
  revoked_at: nullable(moment()),
  last_used_at: nullable(moment("Start of the last call; null if never used.")),
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

const warnings = Type.Array(Type.String(), {
  description: "For example, a listed model that does not exist yet.",
});
export const changedReply = Type.Object({ ...key, warnings });
export const listedReply = Type.Object({
  ...key,
  budget: nullable(budgetReply),
});
/** The one place where a key's secret is shown. */
export const newKeyReply = Type.Object({
  ...key,
  key: Type.String({ description: "The secret, shown only once." }),
  warnings,
});
export type NewKeyView = View<typeof newKeyReply>;
