import { Type } from "typebox";
import { budgetReply, limitsReply, moment, nullable, oneOf, type View } from "../http/schemas.ts";

const key = {
  id: Type.String(),
  account: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "The shape of the secret, never the secret." }),
  models: nullable(Type.Array(Type.String(), { description: "Null: every model." })),
  status: oneOf(["active", "expired", "revoked"]),
  created_at: moment(),
  expires_at: nullable(moment()),
  revoked_at: nullable(moment()),
  last_used_at: nullable(moment("When its last call began; null: never.")),
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
  description: "Such as a model it names that there is not yet.",
});
export const changedReply = Type.Object({ ...key, warnings });
export const listedReply = Type.Object({
  ...key,
  budget: nullable(budgetReply),
});
/** The one place where a key's secret is shown. */
export const newKeyReply = Type.Object({
  ...key,
  key: Type.String({ description: "The secret, shown this once." }),
  warnings,
});
export type NewKeyView = View<typeof newKeyReply>;
