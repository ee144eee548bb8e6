import { optionalDate, toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { NewInvite } from "../../people/invites.ts";
import { localWays, type Rights } from "../../people/local-rights.ts";
import type { SessionPolicy } from "../../people/session-policy.ts";
import type { Invite, Membership, Session, User } from "../../people/store.ts";
import { type Actor, actorOf } from "../http/context.ts";
import type { View } from "../http/schemas.ts";
import type { InvitedView, LinkView, linkReply, PersonView } from "./schemas.ts";

/** The secret is behind the #: browsers keep it to themselves, and no log has it. */
export function toLink(platformUrl: string, { secret, invite }: NewInvite): LinkView {
  return {
    id: invite.id,
    link: `${platformUrl}/join#${secret}`,
    email: invite.email ?? null,
    expires_at: toDateText(invite.expiresAtMs),
    mailed_to: null,
    mail_problem: null,
  };
}

/** A link that was mailed is for the owner of the mailbox alone. */
export const toLinkReply = (view: LinkView): View<typeof linkReply> => ({
  ...view,
  link: view.mailed_to === null ? view.link : null,
});

/** Whoever borrows a session must not get a password with it. */
export function checkOther(actor: Actor | undefined, userId: string): void {
  if (actorOf(actor).id === userId)
    throw new Problem({
      code: "conflict",
      message: "You cannot reset your own password. Change it in your profile instead.",
    });
}

export function toInvited(invite: Invite): InvitedView {
  return {
    id: invite.id,
    email: invite.email ?? null,
    role: invite.role ?? null,
    invited_by: invite.createdBy,
    expires_at: toDateText(invite.expiresAtMs),
  };
}

/** By today's policy. */
export function toWaysIn(
  all: Rights,
  { hasIdentity, policy }: { readonly hasIdentity: boolean; readonly policy: SessionPolicy },
) {
  const { hasPassword, hasLink } = localWays(all, policy);
  return {
    has_identity_factor: hasIdentity && policy.trustsIdentity && !hasPassword,
    may_reset_password: hasLink,
  };
}

export function toPersonView(of: {
  readonly user: User;
  /** Those that have not ended, the one seen last first. */
  readonly sessions: readonly Session[];
  readonly memberships: readonly Membership[];
  /** Of accounts, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly hasFactor: boolean;
  readonly hasIdentity: boolean;
  readonly policy: SessionPolicy;
}): PersonView {
  const { user, sessions, memberships, names, hasFactor, hasIdentity } = of;
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    is_operator: user.isOperator,
    is_operator_by_identity: user.isOperatorByIdentity === true,
    created_at: toDateText(user.createdAtMs),
    accounts: memberships.flatMap(({ accountId, role }) => {
      const name = names.get(accountId);
      return name === undefined ? [] : [{ id: accountId, name, role }];
    }),
    has_second_factor: hasFactor,
    ...toWaysIn({ user, memberships }, of),
    has_identity: hasIdentity,
    sessions: sessions.length,
    last_seen_at: optionalDate(sessions[0]?.lastSeenMs),
  };
}
