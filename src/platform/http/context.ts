import type { AuditActor } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Problem } from "../../base/problem.ts";
import type { Account, AccountStore } from "../../ledger/account.ts";
import type { RelyingParty } from "../../people/factors/passkeys.ts";
import type { People, Person, Visitor } from "../../people/people.ts";
import type { SessionSecrets } from "../../people/session-secrets.ts";
import type { Token, User } from "../../people/store.ts";
import type { Tokens } from "../../people/tokens.ts";

/** What the kit itself needs. */
export interface KitDependencies {
  readonly people: Pick<People, "find">;
  readonly tokens: Pick<Tokens, "find">;
  readonly sessionSecrets: SessionSecrets;
  readonly accounts: Pick<AccountStore, "find">;
  readonly clock: Clock;
  readonly log: Log;
  /** Where people reach the platform. */
  readonly platformUrl: () => string;
}

export type Actor =
  | { readonly kind: "person"; readonly person: Person }
  | { readonly kind: "token"; readonly token: Token };

/** The current permissions of an actor. */
export interface Permission {
  readonly isAllowed: boolean;
  readonly isOperator: boolean;
}

/** One request, once it is known that it may be asked. */
export interface RequestContext {
  readonly actor: Actor | undefined;
  /** The account that the path names; only asked for where it does. */
  readonly account: Account;
  /** Whether the caller is an operator: only operators see vendors and their prices. */
  readonly isOperator: boolean;
  readonly visitor: Visitor;
  /** Whether a page asks, and not a program. */
  readonly isBrowser: boolean;
  readonly signal: AbortSignal;
  /** Resolves the caller again, for long-running replies. */
  readonly permission: () => Promise<Permission>;
  /** For ledger queries: a caller with many queries waits only for their own. */
  readonly inTurn: <T>(question: () => Promise<T>) => Promise<T>;
  /** Counts a session that is about to begin, or refuses it. */
  readonly admitSession: (user: User) => void;
  /** Of the page that asks. */
  readonly origin: string;
  /** Of the page that asks: passkeys belong to its host name, and an IP address has none. */
  readonly party: RelyingParty | undefined;
  /** Of a sign-in that lacks its second step. */
  readonly signInCookie: string;
  /** Sent with the reply. */
  readonly headers: Headers;
  readonly setCookie: (cookie: {
    readonly kind: "session" | "signIn";
    readonly value: string;
    readonly ageMs: number;
  }) => void;
}

/** The signed-in user; routes for users always have one. */
export function personOf({ actor }: RequestContext): Person {
  if (actor?.kind !== "person")
    throw new Problem({ code: "invalid", message: "Tokens cannot do this. Sign in instead." });
  return actor.person;
}

/** As the audit log and links have it. */
export function actorOf(actor: Actor | undefined): AuditActor {
  if (actor === undefined) return { kind: "person", id: "", name: "unknown visitor" };
  if (actor.kind === "token") return { kind: "token", id: actor.token.id, name: actor.token.name };
  const { id, email, isOperator } = actor.person.user;
  return { kind: isOperator ? "operator" : "person", id, name: email };
}
