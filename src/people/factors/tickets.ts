import { createHash, randomBytes } from "node:crypto";
import { Problem } from "../../base/problem.ts";
import type { Flow } from "../identity/flow.ts";
import { hashSecret } from "../session-secrets.ts";
import type { SignOutMark, UsedTicket } from "./store.ts";

/** Implemented by `secrets`. */
export interface Sealing {
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** What a ticket is for: one for another purpose does not open. */
export type TicketPurpose =
  | "second step"
  | "passkey sign-in"
  | "totp"
  | "passkey"
  | "verify"
  | "identity"
  | "connect identity";

/** A link that was used as far as the second step. */
export interface PendingInvite {
  readonly hash: string;
  /** Of the new password, where the link is for one. */
  readonly passwordHash?: string | undefined;
}

export interface TicketContent {
  /** Absent where a passkey is to say who it is. */
  readonly userId?: string | undefined;
  /** Of the password at that moment: a new one voids the ticket. */
  readonly passwordMark?: string | undefined;
  /** For a passkey to sign; base64url. */
  readonly challenge?: string | undefined;
  readonly invite?: PendingInvite | undefined;
  /** Of an authenticator app that is being set up. */
  readonly secret?: string | undefined;
  /** Of a sign-in at the identity provider. */
  readonly flow?: Flow | undefined;
  /** Of the identity provider that took the first step. */
  readonly issuer?: string | undefined;
  /** Of the sign-outs there that void the ticket. */
  readonly voidedBy?: SignOutMark | undefined;
}

export interface Ticket extends TicketContent {
  readonly issuedAtMs: number;
  readonly used: UsedTicket;
}

interface Sealed extends TicketContent {
  readonly id: string;
  readonly expiresAtMs: number;
  /** Of the cookie or the session that the ticket was given to. */
  readonly holder: string;
}

const ticketMs = 10 * 60_000;
const markMs = 2 * ticketMs;
/**
 * A mark this much later than now was stored while the clock was ahead. It must not void sign-ins until
 * the clock is there again. Shorter is not enough: the provider may take a minute to answer after a
 * ticket was opened, and a sign-out in this time counts.
 */
export const markAheadMs = 2 * 60_000;
const longestTicket = 4_000;

/**
 * Carries what a sign-in or a change has reached so far, encrypted. The server keeps nothing for it,
 * so nobody can fill its memory with attempts. A ticket works for one browser and for ten minutes.
 * It works once: what it allows is written together with its id (`used_tickets`).
 */
export class Tickets {
  readonly #sealing: Sealing;

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }

  issue(
    purpose: TicketPurpose,
    content: TicketContent,
    { holder, nowMs }: { readonly holder: string; readonly nowMs: number },
  ): { readonly ticket: string; readonly expiresAtMs: number } {
    const expiresAtMs = nowMs + ticketMs;
    const sealed: Sealed = {
      ...content,
      id: randomBytes(16).toString("base64url"),
      expiresAtMs,
      holder: hashSecret(holder),
    };
    return { ticket: this.#sealing.seal(JSON.stringify(sealed), placeOf(purpose)), expiresAtMs };
  }

  open(
    purpose: TicketPurpose,
    text: string,
    { holder, nowMs }: { readonly holder: string; readonly nowMs: number },
  ): Ticket {
    const sealed = text.length > longestTicket ? undefined : this.#read(purpose, text);
    if (sealed === undefined || sealed.expiresAtMs <= nowMs || sealed.holder !== hashSecret(holder))
      throw new TicketExpired();
    const { id, expiresAtMs, voidedBy } = sealed;
    const used = { id, expiresAtMs, atMs: nowMs, voidedBy };
    return { ...sealed, issuedAtMs: expiresAtMs - ticketMs, used };
  }

  #read(purpose: TicketPurpose, text: string): Sealed | undefined {
    try {
      // Only this program can have sealed it.
      return JSON.parse(this.#sealing.open(text, placeOf(purpose))) as Sealed;
    } catch {
      return undefined;
    }
  }
}

const placeOf = (purpose: TicketPurpose) => `ticket:${purpose}`;

/**
 * Tickets are not stored, so a sign-out at the identity provider stores one mark for the user. It
 * voids every sign-in that began no later than the sign-out, and is kept until the last of them has
 * ended: one ticket lasts while the browser is at the provider, and one for the second step.
 */
export function signOutMark(
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
  atMs: number,
): SignOutMark {
  const name = JSON.stringify([issuer, subject]);
  const id = `sign-out ${createHash("sha256").update(name).digest("base64url")}`;
  return { id, expiresAtMs: atMs + markMs };
}

/** The latest end of a mark that counts for a ticket that was opened at this moment. */
export const latestMarkEndMs = (atMs: number): number => atMs + markMs + markAheadMs;

export const markOf = (passwordHash: string): string => hashSecret(`mark ${passwordHash}`);

export class TicketExpired extends Problem {
  constructor() {
    super({
      code: "conflict",
      message: "This step took longer than 10 minutes or was already completed. Start again.",
    });
  }
}
