import { Type } from "../../base/json/type.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";

export const tokenReply = Type.Object({
  id: Type.String(),
  name: Type.String(),
  hint: Type.String(),
  role: Type.String(),
  scopes: Type.Array(Type.String()),
  status: oneOf(["active", "expired", "revoked"]),
  created_by: Type.String(),
  created_at: moment(),
  expires_at: nullable(moment()),
});

export type TokenView = View<typeof tokenReply>;

/** The one place where a token's secret is shown. */
export const newTokenReply = Type.Object({ ...tokenReply.properties, token: Type.String() });
