import { newId } from "../../base/ids.ts";
import { Problem } from "../../base/problem.ts";
import { hasFactor, type SignOutMark, type UsedTicket } from "../factors/store.ts";
import { type Sealing, signOutMark, TicketExpired, Tickets } from "../factors/tickets.ts";
import { checkEmail, failedSignIn, type People, toEmail, type Visitor } from "../people.ts";
import { newSecret } from "../session-secrets.ts";
import type { Session, User } from "../store.ts";
import { networkOf, Throttle } from "../throttle.ts";
import type { Claims } from "./claims.ts";
import { IdentityNotAllowed, IdentityUnavailable } from "./failures.ts";
import type { Flow } from "./flow.ts";
import { LogoutRefused, longestAgeS, UnknownKey } from "./logout-token.ts";
import type { IdentityProvider } from "./provider.ts";
import { type FindAccount, grantsOf, type RoleRule } from "./roles.ts";
import type { EntryAudits, Grants, Identity, IdentityEntry, RightsChange } from "./store.ts";

export interface IdentityPolicy {
  readonly rules: readonly RoleRule[];
  /** Whether a member who has a password is connected by a verified email address. */
  readonly linksByEmail: boolean;
  /** Whether an address counts as verified where the provider does not say. */
  readonly trustsEmail: boolean;
  readonly secondFactor: "trust" | "amr" | "require";
}

export interface IdentityStart {
  /** Of the provider, for the browser. */
  readonly url: string;
  readonly ticket: string;
  readonly expiresAtMs: number;
  /** For a cookie: the ticket is of no use without it. */
  readonly holder: string;
}

/** What the browser brings back. */
export interface IdentityReturn {
  readonly ticket: string;
  readonly holder: string;
  /** The query of the page that the provider sent the browser to. */
  readonly search: string;
  readonly visitor: Visitor;
}

export interface Entered {
  readonly user: User;
  /** Of the session; undefined: the user has a second factor, and it is asked for. */
  readonly secret: string | undefined;
  /** For the ticket of the second step. */
  readonly voidedBy: SignOutMark;
  readonly changes: readonly RightsChange[];
  /** Accounts that SVC_OIDC_ROLES names and that do not exist. */
  readonly unknownAccounts: readonly string[];
}

/** The audit records of a sign-in, for the user that it turns out to be. */
export type ToEntryAudits = (user: User, kind: IdentityEntry["kind"]) => EntryAudits;

/** How long a used logout token is remembered: twice its longest age, because clocks differ. */
const logoutMs = 2 * longestAgeS * 1_000;
/** Longer ones do not fit into an address. */
const longestIdToken = 4_000;
export const idTokenPlace = (userId: string) => `id token:${userId}`;

/**
 * Signs people in through the identity provider. A user is recognized by issuer and subject, never
 * by email: an address can be given to somebody else. A new user needs a verified address, and a
 * group that allows something. The server keeps nothing while the browser is at the provider: what
 * it has to remember is sealed in a ticket, so any process can take the sign-in to its end.
 */
export class Identities {
  readonly provider: IdentityProvider;
  readonly #people: People;
  readonly #sealing: Sealing;
  readonly #tickets: Tickets;
  readonly #policy: IdentityPolicy;
  readonly #findAccount: FindAccount;
  readonly #reported = new Throttle({ burst: 1, everyMs: 60_000 });

  constructor(options: {
    readonly provider: IdentityProvider;
    readonly people: People;
    readonly sealing: Sealing;
    readonly policy: IdentityPolicy;
    readonly findAccount: FindAccount;
  }) {
    this.provider = options.provider;
    this.#people = options.people;
    this.#sealing = options.sealing;
    this.#tickets = new Tickets(options.sealing);
    this.#policy = options.policy;
    this.#findAccount = options.findAccount;
  }

  /** For a visitor; or for a user who is signed in and connects an identity. */
  async begin(redirectUri: string, userId?: string): Promise<IdentityStart> {
    const { url, flow } = await this.provider.begin(redirectUri);
    const holder = newSecret();
    const nowMs = this.#people.clock.nowMs();
    const purpose = userId === undefined ? "identity" : "connect identity";
    return { url, holder, ...this.#tickets.issue(purpose, { flow, userId }, { holder, nowMs }) };
  }

  async enter(
    given: IdentityReturn & {
      readonly isBound: boolean;
      /** Throws for a user who signs in too often. */
      readonly admit: (user: User) => void;
    },
    toAudits: ToEntryAudits,
  ): Promise<Entered> {
    const { claims, used, issuedAtMs, succeeded } = await this.#claimsOf("identity", given);
    const voidedBy = signOutMark(claims, issuedAtMs);
    const { rules } = this.#policy;
    const { unknownAccounts, ...grants } = await grantsOf(claims.groups, rules, this.#findAccount);
    const { user, kind } = await this.#userOf(claims, grants);
    given.admit(user);
    const session = await this.#sessionOf(user, claims, given);
    const entry: IdentityEntry = {
      ticket: { ...used, voidedBy },
      identity: this.#identityOf(user, claims),
      kind,
      user,
      grants,
      session: session?.session,
      nowMs: this.#people.clock.nowMs(),
    };
    const { outcome, changes } = await this.#people.store.enterByIdentity(
      entry,
      toAudits(user, kind),
    );
    if (outcome === "ticket-used") throw new TicketExpired();
    if (outcome === "changed") throw justChanged();
    if (outcome === "no-role") throw this.#noRole();
    await succeeded();
    return { user, secret: session?.secret, voidedBy, changes, unknownAccounts };
  }

  /** For a user who is signed in: from then on, the provider signs them in. */
  async connect(
    user: User,
    given: IdentityReturn,
    toAudit: (claims: Claims) => EntryAudits["entered"],
  ): Promise<void> {
    const { claims, used, userId, succeeded } = await this.#claimsOf("connect identity", given);
    if (userId !== user.id) throw new TicketExpired();
    const outcome = await this.#people.store.connectIdentity(
      this.#identityOf(user, claims),
      used,
      toAudit(claims),
    );
    if (outcome === "ticket-used") throw new TicketExpired();
    if (outcome === "taken")
      throw new IdentityNotAllowed(
        `This user of ${this.provider.name} is connected to another user here, or your user has another connection. Ask an operator to disconnect it.`,
      );
    await succeeded();
  }

  /** Where the browser goes after signing out here; undefined: nowhere. */
  async logoutUrl(session: Session, returnTo: string): Promise<string | undefined> {
    if (session.issuer === undefined) return undefined;
    const identity = await this.#people.store.identityOf(session.userId);
    if (identity?.issuer !== session.issuer) return undefined;
    const { sealedIdToken, userId } = identity;
    const idToken =
      sealedIdToken === undefined
        ? undefined
        : this.#sealing.open(sealedIdToken, idTokenPlace(userId));
    return this.provider.logoutUrl({ idToken, returnTo });
  }

  /** A user signed out at the provider: ends the sessions and sign-ins that it began for them. */
  async loggedOut(
    given: { readonly token: string; readonly visitor: Visitor },
    toAudit: (user: User) => EntryAudits["entered"],
  ): Promise<void> {
    const { clock, store } = this.#people;
    const { id, ...of } = await this.#readLogout(given);
    const nowMs = clock.nowMs();
    const ticket = { id, expiresAtMs: nowMs + logoutMs, atMs: nowMs };
    const mark = signOutMark(of, nowMs);
    const outcome = await store.signOutIdentity({ ...of, ticket, mark }, toAudit);
    if (outcome === "ticket-used")
      throw new LogoutRefused("it was already used", { isCounted: false });
  }

  async #readLogout(given: { readonly token: string; readonly visitor: Visitor }) {
    const { clock, limits } = this.#people;
    const network = networkOf(given.visitor.address);
    await limits.checkLogout(network, clock.nowMs());
    try {
      return await this.provider.readLogout(given.token);
    } catch (error) {
      if (isCounted(error)) await limits.countLogout(network, clock.nowMs());
      throw error;
    }
  }

  /**
   * Whether the log is to have this failed sign-out: anyone can cause one, so each kind is due once
   * per minute.
   */
  isReportDue(kind: string): boolean {
    const nowMs = this.#people.clock.nowMs();
    if (this.#reported.waitMs(kind, nowMs) > 0) return false;
    this.#reported.count(kind, nowMs);
    return true;
  }

  async #claimsOf(
    purpose: "identity" | "connect identity",
    { ticket, holder, search, visitor }: IdentityReturn,
  ): Promise<{
    readonly claims: Claims;
    readonly used: UsedTicket;
    readonly issuedAtMs: number;
    readonly userId: string | undefined;
    readonly succeeded: () => Promise<void>;
  }> {
    const nowMs = this.#people.clock.nowMs();
    const succeeded = await this.#people.limits.admitVisitor(networkOf(visitor.address), nowMs);
    const opened = this.#tickets.open(purpose, ticket, { holder, nowMs });
    const { used, userId, issuedAtMs } = opened;
    if (opened.flow === undefined) throw new TicketExpired();
    const claims = await this.#complete(search, opened.flow, visitor);
    return { claims, used, issuedAtMs, userId, succeeded };
  }

  async #complete(search: string, flow: Flow, visitor: Visitor): Promise<Claims> {
    try {
      return await this.provider.complete(search, flow);
    } catch (error) {
      await this.#people.countFailure(failedSignIn, undefined, visitor.address);
      throw error;
    }
  }

  async #userOf(
    claims: Claims,
    grants: Grants,
  ): Promise<{ readonly user: User; readonly kind: IdentityEntry["kind"] }> {
    const { store } = this.#people;
    const known = await store.identity(claims);
    if (known !== undefined) {
      const user = await store.user(known.userId);
      if (user === undefined) throw justChanged();
      return { user, kind: "known" };
    }
    const email = this.#emailOf(claims);
    const existing = await store.userByEmail(email);
    if (existing !== undefined) {
      await this.#checkLink(existing, claims);
      return { user: existing, kind: "link" };
    }
    if (!grants.isOperator && grants.roles.size === 0) throw this.#noRole();
    return { user: this.#newUser(email, claims), kind: "create" };
  }

  #emailOf({ email = "", isEmailVerified }: Claims): string {
    const { name } = this.provider;
    if (email === "")
      throw new IdentityNotAllowed(
        `${name} did not send your email address. Ask an operator to add the scope email, or the claim at the provider.`,
      );
    if (isEmailVerified === false || (isEmailVerified === undefined && !this.#policy.trustsEmail))
      throw new IdentityNotAllowed(
        `${name} does not say that your email address is verified (email_verified). Verify it there, or ask an operator.`,
      );
    const read = toEmail(email);
    checkEmail(read);
    return read;
  }

  /** What a person reaches by email alone must be worth no more than what the address proves. */
  async #checkLink(user: User, { isEmailVerified }: Claims): Promise<void> {
    const other = await this.#people.store.identityOf(user.id);
    if (other !== undefined)
      throw new IdentityNotAllowed(
        `${user.email} is connected to another user of an identity provider. Ask an operator to disconnect it.`,
      );
    const isWanted = this.#policy.linksByEmail || user.passwordHash === "";
    if (user.isOperator || !isWanted || isEmailVerified !== true)
      throw new IdentityNotAllowed(
        `${user.email} already has a user here. Sign in with the password, and connect ${this.provider.name} on your profile page.`,
      );
  }

  #newUser(email: string, { name = "" }: Claims): User {
    const nowMs = this.#people.clock.nowMs();
    const shown = name
      .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
      .trim()
      .slice(0, 100);
    return {
      id: newId("user", nowMs),
      email,
      name: shown === "" ? email.slice(0, 100) : shown,
      passwordHash: "",
      isOperator: false,
      createdAtMs: nowMs,
    };
  }

  #identityOf(user: User, { issuer, subject, email = "", idToken }: Claims): Identity {
    const nowMs = this.#people.clock.nowMs();
    return {
      issuer,
      subject,
      userId: user.id,
      email: email.slice(0, 254),
      sealedIdToken:
        idToken.length > longestIdToken
          ? undefined
          : this.#sealing.seal(idToken, idTokenPlace(user.id)),
      createdAtMs: nowMs,
      lastUsedMs: nowMs,
    };
  }

  /** Undefined: the provider's sign-in is not enough for a user who has a second factor. */
  async #sessionOf(
    user: User,
    { issuer, hasManyFactors }: Claims,
    { visitor, isBound }: { readonly visitor: Visitor; readonly isBound: boolean },
  ): Promise<{ readonly secret: string; readonly session: Session } | undefined> {
    const { secondFactor } = this.#policy;
    const isEnough = secondFactor === "trust" || (secondFactor === "amr" && hasManyFactors);
    if (!isEnough && hasFactor(await this.#people.store.factors(user.id))) return undefined;
    const factor = isEnough ? "identity" : undefined;
    return this.#people.newSession({ userId: user.id, visitor, isBound, factor, issuer });
  }

  #noRole(): IdentityNotAllowed {
    return new IdentityNotAllowed(
      `${this.provider.name} signed you in, but none of your groups may use this platform. Ask an operator for access.`,
    );
  }
}

/** Also a token whose key is not known yet: anyone can invent the name of a key. */
const isCounted = (error: unknown) =>
  error instanceof LogoutRefused
    ? error.isCounted
    : error instanceof IdentityUnavailable && error.cause instanceof UnknownKey;

const justChanged = () =>
  new Problem({
    code: "conflict",
    message: "Your user has just changed. Sign in again.",
  });
