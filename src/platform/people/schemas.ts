import { Type } from "typebox";
import { toDateText } from "../../base/dates.ts";
import type { NewInvite } from "../../people/invites.ts";
import type { Invite } from "../../people/store.ts";
import { moment, nullable, type View } from "../http/schemas.ts";

export const linkReply = Type.Object({
  id: Type.String(),
  link: Type.String(),
  expires_at: moment(),
});
const linkView = Type.Object({ ...linkReply.properties, email: nullable(Type.String()) });
/** A link that works once; shown here and never again. */
export type LinkView = View<typeof linkView>;

/** The secret is behind the #: browsers keep it to themselves, and no log has it. */
export function toLink(platformUrl: string, { secret, invite }: NewInvite): LinkView {
  return {
    id: invite.id,
    link: `${platformUrl}/join#${secret}`,
    email: invite.email ?? null,
    expires_at: toDateText(invite.expiresAtMs),
  };
}

export function toInvited(invite: Invite) {
  return {
    id: invite.id,
    email: invite.email ?? null,
    role: invite.role ?? null,
    invited_by: invite.createdBy,
    expires_at: toDateText(invite.expiresAtMs),
  };
}
