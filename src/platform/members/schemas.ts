import { Type } from "../../base/json/type.ts";
import { accountRoles } from "../../people/role.ts";
import { moment, oneOf, type View } from "../http/schemas.ts";
import { invitedReply } from "../people/schemas.ts";

export const role = oneOf(accountRoles);

export const member = Type.Object({
  id: Type.String({ description: "User id." }),
  email: Type.String(),
  name: Type.String(),
  role,
  joined_at: moment(),
});

export const membersReply = Type.Object({
  members: Type.Array(member),
  invited: Type.Array(invitedReply),
});
export type MembersView = View<typeof membersReply>;
