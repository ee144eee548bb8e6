import type { AuditActor, AuditStore } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Problem } from "../../base/problem.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import type { Account, AccountStore } from "../../ledger/account.ts";
import type { LedgerReports } from "../../ledger/reports.ts";
import type { Invites } from "../../people/invites.ts";
import type { People, Person, Visitor } from "../../people/people.ts";
import type { SessionSecrets } from "../../people/session-secrets.ts";
import type { Token, User } from "../../people/store.ts";
import type { Tokens } from "../../people/tokens.ts";
import type { Live } from "../live/live.ts";
import type { Operations, UnboundOperations } from "../operations.ts";

/** What the routes work with. */
export interface PlatformParts {
  readonly operations: UnboundOperations;
  readonly audit: AuditStore;
  readonly people: People;
  readonly invites: Invites;
  readonly sessionSecrets: SessionSecrets;
  readonly tokens: Tokens;
  readonly accounts: AccountStore;
  readonly catalog: CatalogStore;
  readonly reports: LedgerReports;
  readonly live: Live;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** Where callers reach the gateway; without /v1. */
  readonly gatewayUrl: () => string;
  /** Where people reach the platform. */
  readonly platformUrl: () => string;
  /** For people to see; secrets are not in it. */
  readonly settings: readonly SettingView[];
}

export interface SettingView {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
  readonly about: string;
}

export type Actor =
  | { readonly kind: "person"; readonly person: Person }
  | { readonly kind: "token"; readonly token: Token };

/** What somebody may do at this moment. */
export interface Permission {
  readonly isAllowed: boolean;
  readonly isOperator: boolean;
}

/** One request, once it is known that it may be asked. */
export interface Context {
  readonly parts: PlatformParts;
  /** In the name of whoever asks. */
  readonly operations: Operations;
  readonly actor: Actor | undefined;
  /** The account that the path names; only asked for where it does. */
  readonly account: Account;
  /** Whether it is an operator who asks: vendors and their prices are shown to nobody else. */
  readonly isOperator: boolean;
  readonly visitor: Visitor;
  /** Whether a page asks, and not a program. */
  readonly isBrowser: boolean;
  readonly signal: AbortSignal;
  /** Who asks, worked out anew; for replies that go on. */
  readonly permission: () => Promise<Permission>;
  /** For questions to the ledger: whoever asks for many waits for their own alone. */
  readonly inTurn: <T>(question: () => Promise<T>) => Promise<T>;
  /** Counts a session that is about to begin, or refuses it. */
  readonly admitSession: (user: User) => void;
  /** Sent with the reply. */
  readonly headers: Headers;
  /** Cookies are sent over https only. */
  readonly isSecure: boolean;
}

/** The person who asks; routes for people alone have one. */
export function personOf({ actor }: Context): Person {
  if (actor?.kind !== "person")
    throw new Problem({ code: "invalid", message: "Only people can do this, not tokens." });
  return actor.person;
}

/** As the audit log and links have it. */
export function actorOf(actor: Actor | undefined): AuditActor {
  if (actor === undefined) return { kind: "person", id: "", name: "nobody" };
  if (actor.kind === "token") return { kind: "token", id: actor.token.id, name: actor.token.name };
  const { id, email, isOperator } = actor.person.user;
  return { kind: isOperator ? "operator" : "person", id, name: email };
}
