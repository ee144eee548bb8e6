import type { Session, User } from "./store.ts";

const dayMs = 86_400_000;

/** Who needs a second factor. */
export const factorRules = ["off", "operators", "all"] as const;

/** What the operator of the installation decides; it also holds for sessions that are there. */
export interface SessionPolicy {
  /** A session ends after this idle time, and in any case after the maximum age. */
  readonly idleMs: number;
  readonly longestMs: number;
  readonly requireFactor: (typeof factorRules)[number];
}

export const usualPolicy: SessionPolicy = {
  idleMs: 14 * dayMs,
  longestMs: 90 * dayMs,
  requireFactor: "off",
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

/** How long a person who has just proved who they are may change how they sign in. */
const recentMs = 10 * 60_000;

export function isRecent({ verifiedAtMs = 0 }: Session, nowMs: number): boolean {
  return nowMs - verifiedAtMs < recentMs;
}
