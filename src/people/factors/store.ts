import type { AuditRecord } from "../../base/audit.ts";

/**
 * What a person proved besides the password. `identity`: the identity provider signed them in, and
 * that counts.
 */
export const factors = ["totp", "recovery", "passkey", "identity"] as const;
export type Factor = (typeof factors)[number];

/** An authenticator app. */
export interface Totp {
  readonly userId: string;
  readonly sealedSecret: string;
  /** Codes of this time step and of earlier ones are not accepted any more. */
  readonly lastStep: number;
  readonly createdAtMs: number;
}

export interface Passkey {
  /** As the authenticator made it; base64url. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** How often it was used, as it counts itself; many always say 0. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** The host name that it was made for: no other can use it. */
  readonly rpId: string;
  /** Kept in an account of its vendor, so that it outlives the device. */
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly lastUsedMs?: number | undefined;
}

/** What protects the sign-in of one person besides the password. */
export interface FactorsOf {
  readonly totp: Totp | undefined;
  readonly passkeys: readonly Passkey[];
  /** Recovery codes that are left. */
  readonly recoveryCodes: number;
}

export const hasFactor = ({ totp, passkeys }: FactorsOf): boolean =>
  totp !== undefined || passkeys.length > 0;

/** A ticket that was used; kept until it would have expired, so that it works once. */
export interface UsedTicket {
  readonly id: string;
  readonly expiresAtMs: number;
  /** When it was opened. */
  readonly atMs: number;
  /** The ticket is void if this mark is stored with the same or a later end. */
  readonly voidedBy?: SignOutMark | undefined;
}

/** Stored beside the used tickets when a user signs out at the identity provider. */
export interface SignOutMark {
  readonly id: string;
  readonly expiresAtMs: number;
}

/** What a right answer uses up, in the transaction of what it allows. */
export type Proof = { readonly ticket?: UsedTicket | undefined; readonly userId: string } & (
  | { readonly factor: "totp"; readonly step: number }
  | { readonly factor: "recovery"; readonly hash: string }
  | {
      readonly factor: "passkey";
      readonly id: string;
      readonly counter: number;
      readonly isBackedUp: boolean;
      readonly atMs: number;
    }
);

/** `spent`: the code has been used; `cloned`: the counter went backwards. */
export type ProofOutcome = "accepted" | "spent" | "cloned" | "ticket-used";

/** More than one person has devices. */
export const mostPasskeys = 20;

export interface NewTotp {
  readonly totp: Totp;
  /** Kept only if the person has no codes yet. */
  readonly recoveryHashes: readonly string[];
  readonly ticket: UsedTicket;
  readonly sessionId: string;
}

export interface NewPasskey {
  readonly passkey: Passkey;
  readonly recoveryHashes: readonly string[];
  readonly ticket: UsedTicket;
  readonly sessionId: string;
}

export interface Added {
  /** Whether the recovery codes that came with the factor count. */
  readonly hasNewCodes: boolean;
}

/** Implemented by the store; a change that finds nothing to change writes no record. */
export interface FactorStore {
  factors(userId: string): Promise<FactorsOf>;
  /** Everybody who has a factor. */
  withFactors(): Promise<ReadonlySet<string>>;
  passkey(id: string): Promise<Passkey | undefined>;
  /**
   * Refused where there is one already, or where the ticket was used. The first factor ends all other
   * sessions of the user; in the one that adds it, it is proved.
   */
  addTotp(added: NewTotp, audit: AuditRecord): Promise<Added | "taken" | "ticket-used">;
  /** Recovery codes go with the last factor. */
  removeTotp(userId: string, audit: AuditRecord): Promise<boolean>;
  replaceRecoveryCodes(
    userId: string,
    hashes: readonly string[],
    audit: AuditRecord,
  ): Promise<boolean>;
  /** The first factor ends sessions: see `addTotp`. */
  addPasskey(
    added: NewPasskey,
    audit: AuditRecord,
  ): Promise<Added | "taken" | "full" | "ticket-used">;
  renamePasskey(
    of: { readonly userId: string; readonly id: string },
    name: string,
    audit: AuditRecord,
  ): Promise<boolean>;
  removePasskey(
    of: { readonly userId: string; readonly id: string },
    audit: AuditRecord,
  ): Promise<boolean>;
  /** Of a person who has lost them: all factors, all codes, and all sessions. */
  resetFactors(userId: string, audit: AuditRecord): Promise<boolean>;
  /** Notes that the person of a session has just proved who they are, and with what factor. */
  verifySession(
    verified: { readonly id: string; readonly atMs: number; readonly proof?: Proof | undefined },
    audit: AuditRecord,
  ): Promise<ProofOutcome>;
}
