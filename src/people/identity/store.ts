import type { AuditRecord } from "../../base/audit.ts";
import type { SignOutMark, UsedTicket } from "../factors/store.ts";
import type { AccountRole } from "../role.ts";
import type { Session, User } from "../user.ts";

/** A user as the identity provider knows them. A user has at most one. */
export interface Identity {
  readonly issuer: string;
  /** Unique and never used again at its issuer; an email address is neither. */
  readonly subject: string;
  readonly userId: string;
  /** The address at the last sign-in; for people to read. */
  readonly email: string;
  /** For signing out at the provider; sealed. */
  readonly sealedIdToken?: string | undefined;
  readonly createdAtMs: number;
  readonly lastUsedMs: number;
}

/** What the groups of a person allow. */
export interface Grants {
  readonly isOperator: boolean;
  /** By account. */
  readonly roles: ReadonlyMap<string, AccountRole>;
}

/** What a sign-in through the provider has changed. */
export interface RightsChange {
  /** Absent: the operator's role. */
  readonly accountId?: string | undefined;
  readonly from: AccountRole | "operator" | null;
  readonly to: AccountRole | "operator" | null;
}

export interface IdentityEntry {
  readonly ticket: UsedTicket;
  readonly identity: Identity;
  /** `create`: the user is new; `link`: known by email; `known`: by the identity. */
  readonly kind: "create" | "link" | "known";
  readonly user: User;
  readonly grants: Grants;
  /** Absent: a second step follows. */
  readonly session: Session | undefined;
  readonly nowMs: number;
}

/**
 * `no-role`: nothing allows the user anything, so no session has begun; `changed`: another change
 * came in between.
 */
export type EntryOutcome = "entered" | "no-role" | "changed" | "ticket-used";

export interface EntryResult {
  readonly outcome: EntryOutcome;
  readonly changes: readonly RightsChange[];
}

export interface EntryAudits {
  readonly entered: AuditRecord;
  /** Where a user who was there before gets the identity. */
  readonly connected: AuditRecord;
  readonly changed: (change: RightsChange) => AuditRecord;
}

/** Implemented by the store; every change is one transaction with its audit records. */
export interface IdentityStore {
  identity(of: Pick<Identity, "issuer" | "subject">): Promise<Identity | undefined>;
  identityOf(userId: string): Promise<Identity | undefined>;
  /** The ids of all users with an identity. */
  withIdentities(): Promise<ReadonlySet<string>>;
  /** Signs a user in, with exactly the rights that the provider and people by hand have given. */
  enterByIdentity(entry: IdentityEntry, audits: EntryAudits): Promise<EntryResult>;
  /** Adds an identity to a user who is signed in. */
  connectIdentity(
    identity: Identity,
    ticket: UsedTicket,
    audit: AuditRecord,
  ): Promise<"connected" | "taken" | "ticket-used">;
  /** Ends the sessions that the issuer began for its user, and voids the sign-ins of the mark. */
  signOutIdentity(
    of: Pick<Identity, "issuer" | "subject"> & {
      readonly ticket: UsedTicket;
      readonly mark: SignOutMark;
    },
    toAudit: (user: User) => AuditRecord,
  ): Promise<"signed-out" | "ticket-used">;
  /** Takes away the identity, what it allowed, and the sessions and sign-ins that began with it. */
  disconnectIdentity(userId: string, nowMs: number, audit: AuditRecord): Promise<boolean>;
}
