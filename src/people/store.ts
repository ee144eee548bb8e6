import type { AccountRole, Scope } from "./role.ts";

export interface User {
  readonly id: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly isOperator: boolean;
  readonly createdAtMs: number;
}

export interface Membership {
  readonly userId: string;
  readonly accountId: string;
  readonly role: AccountRole;
  readonly createdAtMs: number;
}

/** One browser that has signed in. Of its secret only a hash is kept. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly hash: string;
  readonly createdAtMs: number;
  readonly lastSeenMs: number;
  readonly expiresAtMs: number;
  readonly userAgent: string;
  readonly address: string;
}

export const inviteKinds = ["operator", "member", "reset"] as const;
export type InviteKind = (typeof inviteKinds)[number];

/** A link that works once: to become an operator or a member, or to choose a new password. */
export interface Invite {
  readonly id: string;
  readonly hash: string;
  readonly kind: InviteKind;
  /** Whom it is for; anybody who has the link where it is not told. */
  readonly email?: string | undefined;
  /** Whose password is chosen anew. */
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

/** For a machine: the operator's, or an account's in one of its roles; let into some areas only. */
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

/** Who changed what. It is written once and never changed. */
export interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly actor: AuditActor;
  readonly accountId?: string | undefined;
  /** Such as `key.create`. */
  readonly action: string;
  /** The id or name of what was changed. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string;
}

export interface AuditActor {
  readonly kind: "person" | "operator" | "token" | "command";
  readonly id: string;
  /** As it was called then. */
  readonly name: string;
}

export interface AuditQuery {
  readonly accountId?: string | undefined;
  readonly action?: string | undefined;
  /** The id that the page before this one ended with. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Who made the link that the first start prints; it is of no use once there is an operator. */
export const firstStart = "first start";

export type AcceptOutcome = "accepted" | "used" | "email-taken";

/** What an invitation that is used changes, all of it at once. */
export interface Acceptance {
  readonly inviteId: string;
  readonly addUser?: User | undefined;
  readonly makeOperator?: string | undefined;
  readonly addMembership?: Membership | undefined;
  readonly setPassword?: { readonly userId: string; readonly passwordHash: string } | undefined;
}

export type PartOutcome = "done" | "none" | "last";

interface Forced {
  readonly isForced: boolean;
  readonly nowMs: number;
}

/** Implemented by the store. */
export interface PeopleStore {
  user(id: string): Promise<User | undefined>;
  userByEmail(email: string): Promise<User | undefined>;
  users(): Promise<readonly User[]>;
  /** How many operators there are. */
  countOperators(): Promise<number>;
  setUser(
    id: string,
    change: { readonly name?: string; readonly passwordHash?: string },
  ): Promise<void>;
  /** Takes the operator's role away, unless nobody else has it; one of two at once stays. */
  removeOperator(id: string, nowMs: number): Promise<"removed" | "last" | "none">;
  memberships(
    of: { readonly userId: string } | { readonly accountId: string },
  ): Promise<readonly Membership[]>;
  allMemberships(): Promise<readonly Membership[]>;
  /**
   * Another role; with it goes what the old one alone allowed to make. `last`: nothing was changed,
   * since the account would have no owner left; `isForced` is for who may do that.
   */
  setRole(change: Pick<Membership, "userId" | "accountId" | "role"> & Forced): Promise<PartOutcome>;
  /** Their links and tokens of the account end with it. */
  removeMembership(change: Pick<Membership, "userId" | "accountId"> & Forced): Promise<PartOutcome>;

  addSession(session: Session): Promise<void>;
  sessionByHash(hash: string): Promise<Session | undefined>;
  touchSession(id: string, lastSeenMs: number, expiresAtMs: number): Promise<void>;
  sessions(userId: string): Promise<readonly Session[]>;
  /** Of one user: one, or all but one, or all. How many ended. */
  endSessions(
    userId: string,
    which: { readonly id?: string; readonly butNot?: string },
  ): Promise<number>;
  /** Those that are past their time, and invitations too. */
  eraseExpired(nowMs: number): Promise<void>;

  addInvite(invite: Invite): Promise<void>;
  inviteByHash(hash: string): Promise<Invite | undefined>;
  /** Of an account; of none when none is named. */
  invites(accountId: string | undefined): Promise<readonly Invite[]>;
  allInvites(): Promise<readonly Invite[]>;
  removeInvite(id: string): Promise<boolean>;
  /** Takes away those that were made for the same purpose. */
  removeInvites(of: {
    readonly kind: InviteKind;
    readonly userId?: string;
    readonly createdBy?: string;
  }): Promise<void>;
  /** Uses an invitation up, with all that follows from it, or changes nothing. */
  accept(acceptance: Acceptance): Promise<AcceptOutcome>;

  addToken(token: Token): Promise<void>;
  tokenByHash(hash: string): Promise<Token | undefined>;
  /** Of an account; of the operator when none is named. */
  tokens(accountId: string | undefined): Promise<readonly Token[]>;
  revokeToken(id: string, atMs: number): Promise<boolean>;

  addAudit(record: AuditRecord): Promise<void>;
  /** The newest first. */
  audit(query: AuditQuery): Promise<readonly AuditRecord[]>;
}
