import type { Session, User } from "./store.ts";

const dayMs = 86_400_000;

/** Who needs a second factor. */
export const factorRules = ["off", "operators", "all"] as const;

/** Who may sign in without the identity provider. */
export const localRules = ["on", "operators", "off"] as const;

/** Of one user. Each sign-in beyond them ends the session that was not used for the longest time. */
export const mostSessions = 100;

/** What the operator of the installation decides; it also holds for sessions that are there. */
export interface SessionPolicy {
  /** A session ends after this idle time, and in any case after the maximum age. */
  readonly idleMs: number;
  readonly longestMs: number;
  readonly requireFactor: (typeof factorRules)[number];
  /** Whether a sign-in at the identity provider can stand for a second factor. */
  readonly trustsIdentity: boolean;
  /** Who may sign in with what is known here alone: a password or a passkey. */
  readonly localSignIn: (typeof localRules)[number];
  /** Of the identity provider, for messages. */
  readonly identityName: string;
  /** Of the identity provider that is set up, as a normalized URL; undefined: there is none. */
  readonly identityIssuer: string | undefined;
}

export const usualPolicy: SessionPolicy = {
  idleMs: 14 * dayMs,
  longestMs: 90 * dayMs,
  requireFactor: "off",
  trustsIdentity: true,
  localSignIn: "on",
  identityName: "single sign-on",
  identityIssuer: undefined,
};

export function sessionEndMs(
  { createdAtMs, lastSeenMs }: Pick<Session, "createdAtMs" | "lastSeenMs">,
  { idleMs, longestMs }: SessionPolicy,
): number {
  return Math.min(lastSeenMs + idleMs, createdAtMs + longestMs);
}

export function needsFactor({ isOperator }: User, { requireFactor }: SessionPolicy): boolean {
  return requireFactor === "all" || (requireFactor === "operators" && isOperator);
}

/** Whether the identity provider has stood for a second factor of the session. */
export const trustsSession = ({ factor }: Session, { trustsIdentity }: SessionPolicy): boolean =>
  factor === "identity" && trustsIdentity;

/** Whether a factor was proved in the session. Users with a factor can only use such sessions. */
export const provesFactor = (session: Session, policy: SessionPolicy): boolean =>
  session.factor === "identity" ? trustsSession(session, policy) : session.factor !== undefined;

export const mayEnterLocally = ({ isOperator }: User, { localSignIn }: SessionPolicy): boolean =>
  localSignIn === "on" || (localSignIn === "operators" && isOperator);

/** False: a provider began the session that has been replaced, perhaps because it was broken into. */
export const isOfProvider = (
  { issuer }: Partial<Pick<Session, "issuer">>,
  { identityIssuer }: SessionPolicy,
): boolean => issuer === undefined || URL.parse(issuer)?.href === identityIssuer;

/** How long a person who has just proved who they are may change how they sign in. */
const recentMs = 10 * 60_000;

export function isRecent({ verifiedAtMs = 0 }: Session, nowMs: number): boolean {
  return nowMs - verifiedAtMs < recentMs;
}
