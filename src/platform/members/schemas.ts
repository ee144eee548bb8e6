import { Type } from "../../base/json/type.ts";
import { accountRoles } from "../../people/role.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";
import { invitedReply, waysIn } from "../people/schemas.ts";

export const role = oneOf(accountRoles);

export const member = Type.Object({
  id: Type.String({ description: "User id." }),
  email: Type.String(),
  name: Type.String(),
  role,
  is_by_identity: Type.Boolean({
    description: "True: groups at the identity provider give the role.",
  }),
  joined_at: moment(),
  has_second_factor: nullable(
    Type.Boolean({ description: "For owners and operators; null for others." }),
  ),
  has_identity_factor: nullable(waysIn.has_identity_factor),
  may_reset_password: nullable(waysIn.may_reset_password),
});

export const membersReply = Type.Object({
  members: Type.Array(member),
  invited: Type.Array(invitedReply),
});
export type MembersView = View<typeof membersReply>;
