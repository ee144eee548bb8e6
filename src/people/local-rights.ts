import { isOfProvider, mayEnterLocally, type SessionPolicy } from "./session-policy.ts";
import type { Membership, Session, User } from "./store.ts";

/** What a user may do in a session. */
export interface Rights {
  readonly user: User;
  readonly memberships: readonly Membership[];
}

type Begun = Partial<Pick<Session, "issuer" | "link" | "createdAtMs">>;

/** Long enough to connect the identity provider on the profile page. */
const linkMs = 60 * 60_000;

/** Begun by the provider, or by the operator of the machine, who may do everything anyway. */
const isTrusted = ({ issuer, link }: Begun) => issuer !== undefined || link === "machine";

/**
 * Groups are asked for only when the provider signs a user in. What they gave does not count in a
 * session that began with something else: it could outlast them for as long as there is a password.
 * Undefined: the user has no other rights.
 */
export function rightsIn(session: Begun, all: Rights): Rights | undefined {
  if (isTrusted(session)) return all;
  const { user } = all;
  const memberships = all.memberships.flatMap(toLocal);
  const isOperator = user.isOperator && user.isOperatorByIdentity !== true;
  const hasLost = isOperator !== user.isOperator || memberships.length < all.memberships.length;
  if (hasLost && !isOperator && memberships.length === 0) return undefined;
  return { user: { ...user, isOperator, isOperatorByIdentity: undefined }, memberships };
}

/** How a user can sign in without the provider. */
export function localWays(all: Rights, policy: SessionPolicy) {
  const rights = rightsIn({}, all);
  return {
    /** By a password reset link of an operator. */
    hasLink: rights !== undefined,
    hasPassword:
      rights !== undefined && all.user.passwordHash !== "" && mayEnterLocally(rights.user, policy),
  };
}

function toLocal(membership: Membership): readonly Membership[] {
  const { isByIdentity, handRole } = membership;
  if (isByIdentity !== true) return [membership];
  if (handRole === undefined) return [];
  return [{ ...membership, role: handRole, isByIdentity: false, handRole: undefined }];
}

/** By today's rules, for the user with the rights of the session. */
export function goesOn(
  session: Begun,
  user: User,
  { policy, nowMs }: { readonly policy: SessionPolicy; readonly nowMs: number },
): boolean {
  if (!isOfProvider(session, policy)) return false;
  if (isTrusted(session) || mayEnterLocally(user, policy)) return true;
  return session.link === "person" && nowMs - (session.createdAtMs ?? 0) < linkMs;
}
