import type { AuditRecord } from "../base/audit.ts";
import type { TextSearch } from "../base/text-search.ts";
import type { FactorStore, Proof, ProofOutcome } from "./factors/store.ts";
import type { IdentityStore } from "./identity/store.ts";
import type { PreferencesStore } from "./preferences.ts";
import type { AccountRole, Scope } from "./role.ts";
import type { Session, User } from "./user.ts";

export type { Session, User } from "./user.ts";

export interface Membership {
  readonly userId: string;
  readonly accountId: string;
  readonly role: AccountRole;
  readonly createdAtMs: number;
  /** Whether groups at the identity provider give the role, and take it away again. */
  readonly isByIdentity?: boolean | undefined;
  /** The lower role that was given by hand besides. */
  readonly handRole?: AccountRole | undefined;
}

export const inviteKinds = ["operator", "member", "reset"] as const;
export type InviteKind = (typeof inviteKinds)[number];

/** A link that works once: to become an operator or a member, or to choose a new password. */
export interface Invite {
  readonly id: string;
  readonly hash: string;
  readonly kind: InviteKind;
  /** The invited address; absent: anyone with the link. */
  readonly email?: string | undefined;
  /** The user whose password is reset. */
  readonly userId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly role?: AccountRole | undefined;
  /** Who made it, in words. */
  readonly createdBy: string;
  /** Of the person or token; what they made ends with their part in it. */
  readonly createdById: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** For programs: an operator token, or an account token with a role; limited to its scopes. */
export interface Token {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly hint: string;
  readonly accountId?: string | undefined;
  readonly role: AccountRole | "operator";
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly createdById: string;
  readonly createdAtMs: number;
  readonly expiresAtMs?: number | undefined;
  readonly revokedAtMs?: number | undefined;
}

/** Who made the link that the first start prints; it is of no use once there is an operator. */
export const firstStart = "first start";

export type AcceptOutcome = "used" | "email-taken" | ProofOutcome;

/** What an invitation that is used changes, all of it at once. */
export interface Acceptance {
  readonly inviteId: string;
  readonly addUser?: User | undefined;
  readonly makeOperator?: string | undefined;
  readonly addMembership?: Membership | undefined;
  readonly newPassword?: NewPassword | undefined;
  /** Whoever uses an invitation is signed in. */
  readonly addSession: Session;
  /** Of a user who has a second factor. */
  readonly proof?: Proof | undefined;
}

export interface NewPassword {
  readonly userId: string;
  readonly passwordHash: string;
  /** The one session that goes on. */
  readonly keepSession?: string | undefined;
}

export type MembershipOutcome = "done" | "none" | "last";

interface Forced {
  readonly isForced: boolean;
  readonly nowMs: number;
}

/**
 * Implemented by the store. A change writes its audit record in the same transaction; one that
 * finds nothing to change writes none.
 */
export interface PeopleStore extends PreferencesStore, FactorStore, IdentityStore {
  user(id: string): Promise<User | undefined>;
  userByEmail(email: string): Promise<User | undefined>;
  users(): Promise<readonly User[]>;
  /** By name, id and email, the best first; of one account, or of all. */
  search(wanted: TextSearch & { readonly accountId?: string }): Promise<readonly User[]>;
  /** How many operators there are. */
  countOperators(): Promise<number>;
  rename(id: string, name: string, audit: AuditRecord): Promise<void>;
  /** Ends all other sessions, and the links for a new password. */
  setPassword(change: NewPassword, audit: AuditRecord): Promise<void>;
  /** Removes the operator role unless it is the last one; of two concurrent removals one fails. */
  removeOperator(
    id: string,
    nowMs: number,
    audit: AuditRecord,
  ): Promise<"removed" | "last" | "none">;
  memberships(
    of: { readonly userId: string } | { readonly accountId: string },
  ): Promise<readonly Membership[]>;
  allMemberships(): Promise<readonly Membership[]>;
  /**
   * Another role; with it goes what the old one alone allowed to make. `last`: nothing was changed,
   * since the account would have no owner left; `isForced` is for who may do that.
   */
  setRole(
    change: Pick<Membership, "userId" | "accountId" | "role"> & Forced,
    audit: AuditRecord,
  ): Promise<MembershipOutcome>;
  /** Their links and tokens of the account end with it. */
  removeMembership(
    change: Pick<Membership, "userId" | "accountId"> & Forced,
    audit: AuditRecord,
  ): Promise<MembershipOutcome>;

  /** As every new session, it may end the oldest one of its user: there are at most `mostSessions`. */
  addSession(session: Session, audit: AuditRecord): Promise<void>;
  /** Begins a session, if what proves it can be used up. */
  beginSession(session: Session, proof: Proof, audit: AuditRecord): Promise<ProofOutcome>;
  sessionByHash(hash: string): Promise<Session | undefined>;
  touchSession(id: string, lastSeenMs: number, expiresAtMs: number): Promise<void>;
  sessions(userId: string): Promise<readonly Session[]>;
  /** Of one user: one, all, or all but one. How many ended. */
  endSessions(
    of: { readonly userId: string; readonly id?: string; readonly keep?: string },
    audit: AuditRecord,
  ): Promise<number>;
  /** One record for each subject and hour, with the count as its detail. */
  countFailedSignIn(record: AuditRecord): Promise<void>;
  /** Those that are past their time, and invitations too. */
  eraseExpired(nowMs: number): Promise<void>;

  /** An earlier link for the same new password, or for the first operator, ends. */
  addInvite(invite: Invite, audit: AuditRecord): Promise<void>;
  inviteByHash(hash: string): Promise<Invite | undefined>;
  /** Of an account; of none when none is named. */
  invites(accountId: string | undefined): Promise<readonly Invite[]>;
  allInvites(): Promise<readonly Invite[]>;
  removeInvite(id: string, audit: AuditRecord): Promise<boolean>;
  /** Uses an invitation up, with all that follows from it, or changes nothing. */
  accept(acceptance: Acceptance, audit: AuditRecord): Promise<AcceptOutcome>;

  addToken(token: Token, audit: AuditRecord): Promise<void>;
  tokenByHash(hash: string): Promise<Token | undefined>;
  /** Of an account; of the operator when none is named. */
  tokens(accountId: string | undefined): Promise<readonly Token[]>;
  revokeToken(id: string, atMs: number, audit: AuditRecord): Promise<void>;
}
