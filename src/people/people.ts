import type { AuditRecord } from "../base/audit.ts";
import type { Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { invalid, Problem } from "../base/problem.ts";
import { hasInvisible } from "../base/text/visible-text.ts";
import { type Factor, hasFactor } from "./factors/store.ts";
import { goesOn, type Rights, rightsIn } from "./local-rights.ts";
import { checkPassword, Passwords } from "./passwords.ts";
import type { AccountRole } from "./role.ts";
import {
  needsFactor,
  provesFactor,
  type SessionPolicy,
  sessionEndMs,
  trustsSession,
  usualPolicy,
} from "./session-policy.ts";
import { type Device, hashSecret, newSessionSecret } from "./session-secrets.ts";
import { SignInLimits } from "./sign-in-limits.ts";
import type { Membership, MembershipOutcome, PeopleStore, Session, User } from "./store.ts";
import { networkOf } from "./throttle.ts";

const minuteMs = 60_000;
/** How exact "last seen" is: it is not written at every request. */
const seenEveryMs = 5 * minuteMs;
const longestUserAgent = 200;

/** A person who has signed in. */
export interface Person {
  readonly user: User;
  readonly memberships: readonly Membership[];
  readonly session: Session;
  /** The platform asks for a second factor, and there is none: nothing else is allowed. */
  readonly mustAddFactor: boolean;
}

/** The only actions that no operation declares, because the sign-in failed. */
export const failedSignIn = "session.failed";
/** After the right password. */
export const failedFactor = "session.factor_failed";
/** A passkey whose counter went backwards: there may be a copy of it. */
export const clonedPasskey = "passkey.rejected";

export interface NewSession {
  readonly userId: string;
  readonly visitor: Visitor;
  /** True for a browser: its cookie is of no use without the session's second secret. */
  readonly isBound: boolean;
  readonly factor?: Factor | undefined;
  /** Of the identity provider, where it signed the user in. */
  readonly issuer?: string | undefined;
  readonly link?: Session["link"];
}

export interface Visitor {
  readonly userAgent: string;
  readonly address: string;
  /** The browser, if a user has signed in with it before. */
  readonly device?: Device | undefined;
}

export interface PeopleOptions {
  readonly passwords?: Passwords;
  readonly limits?: SignInLimits;
  readonly policy?: SessionPolicy;
}

/** Signs users in and out and recognizes their sessions. */
export class People {
  readonly store: PeopleStore;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
  readonly policy: SessionPolicy;

  constructor(store: PeopleStore, clock: Clock, options: PeopleOptions = {}) {
    const {
      passwords = new Passwords(),
      limits = new SignInLimits(),
      policy = usualPolicy,
    } = options;
    this.store = store;
    this.clock = clock;
    this.passwords = passwords;
    this.limits = limits;
    this.policy = policy;
  }

  /**
   * A wrong email and a wrong password are told alike. Without a visitor it is somebody who is
   * signed in and says the present password once more.
   */
  async authenticate(
    given: { readonly email: string; readonly password: string },
    visitor?: Visitor,
  ): Promise<User> {
    const email = toEmail(given.email);
    const user = await this.store.userByEmail(email);
    const network = visitor && networkOf(visitor.address);
    const device = visitor?.device?.userId === user?.id ? visitor?.device?.id : undefined;
    const succeeded = await this.limits.admit(
      {
        email,
        network,
        device,
        isUsualNetwork: async () =>
          user !== undefined &&
          (await this.store.sessions(user.id)).some(
            ({ address }) => networkOf(address) === network,
          ),
      },
      this.clock.nowMs(),
    );
    const isKnown = network === undefined || device !== undefined;
    const isRight = await this.passwords.verify({
      password: given.password,
      hash: user?.passwordHash || undefined,
      isKnown,
    });
    if (!isRight || user === undefined) {
      await this.countFailure(failedSignIn, user, visitor?.address ?? "");
      throw new WrongPassword();
    }
    await succeeded();
    return user;
  }

  /** For a user who has proved who they are with what is known here alone. */
  async checkLocal(user: User): Promise<void> {
    if (!(await this.mayEnterWith(undefined, user))) throw this.localSignInOff();
  }

  /** With a link, or else with a password or a passkey. */
  async mayEnterWith(link: Session["link"], user: User): Promise<boolean> {
    return (await this.#rightsIn({ link, createdAtMs: this.clock.nowMs() }, user)) !== undefined;
  }

  localSignInOff(): LocalSignInOff {
    return new LocalSignInOff(this.policy.identityName);
  }

  /** Undefined: such a session would not go on. */
  async #rightsIn(
    session: Partial<Pick<Session, "issuer" | "link" | "createdAtMs">>,
    user: User,
  ): Promise<Rights | undefined> {
    const memberships = await this.store.memberships({ userId: user.id });
    const rights = rightsIn(session, { user, memberships });
    if (rights === undefined) return undefined;
    const nowMs = this.clock.nowMs();
    return goesOn(session, rights.user, { policy: this.policy, nowMs }) ? rights : undefined;
  }

  /** All unknown email addresses are one subject, so that guessing cannot fill the log. */
  countFailure(action: string, user: User | undefined, address: string): Promise<void> {
    const nowMs = this.clock.nowMs();
    return this.store.countFailedSignIn({
      id: newId("audit", nowMs),
      atMs: nowMs,
      actor: { kind: "person", id: "", name: "unknown visitor" },
      action,
      subject: user?.email ?? "unknown email addresses",
      detail: {},
      address,
    });
  }

  /** Not stored yet; the secret is for the cookie. */
  newSession(options: NewSession): { readonly secret: string; readonly session: Session } {
    const { userId, visitor, isBound, factor, issuer, link } = options;
    const nowMs = this.clock.nowMs();
    const secret = newSessionSecret(isBound);
    const session: Session = {
      id: newId("session", nowMs),
      userId,
      hash: hashSecret(secret),
      createdAtMs: nowMs,
      lastSeenMs: nowMs,
      expiresAtMs: sessionEndMs({ createdAtMs: nowMs, lastSeenMs: nowMs }, this.policy),
      userAgent: visitor.userAgent.slice(0, longestUserAgent),
      address: visitor.address,
      factor,
      verifiedAtMs: nowMs,
      issuer,
      link,
    };
    return { secret, session };
  }

  /** The user of a session cookie, if the session is still valid. */
  async find(secret: string): Promise<Person | undefined> {
    const session = await this.store.sessionByHash(hashSecret(secret));
    const nowMs = this.clock.nowMs();
    if (session === undefined || this.endOf(session) <= nowMs) return undefined;
    const known = await this.store.user(session.userId);
    const rights = known && (await this.#rightsIn(session, known));
    if (rights === undefined) return undefined;
    const { user, memberships } = rights;
    if (nowMs - session.lastSeenMs >= seenEveryMs) {
      const { createdAtMs } = session;
      const expiresAtMs = sessionEndMs({ createdAtMs, lastSeenMs: nowMs }, this.policy);
      await this.store.touchSession(session.id, nowMs, expiresAtMs);
    }
    const mustAddFactor = await this.#mustAddFactor(user, session);
    if (mustAddFactor === undefined) return undefined;
    return { user, session, memberships, mustAddFactor };
  }

  /** Undefined: the user has a factor that was not proved in this session. */
  async #mustAddFactor(user: User, session: Session): Promise<boolean | undefined> {
    if (trustsSession(session, this.policy)) return false;
    const isNeeded = needsFactor(user, this.policy);
    const isProved = provesFactor(session, this.policy);
    if (isProved && !isNeeded) return false;
    const isThere = hasFactor(await this.store.factors(user.id));
    if (isThere && !isProved) return undefined;
    return isNeeded && !isThere;
  }

  /** By today's policy, whatever it was when the session began. */
  endOf(session: Session): number {
    return Math.min(session.expiresAtMs, sessionEndMs(session, this.policy));
  }

  /** Ends all other sessions, in case the old password was known to others. */
  async changePassword(
    given: {
      readonly user: User;
      readonly sessionId: string;
      readonly current: string;
      readonly password: string;
    },
    audit: AuditRecord,
  ): Promise<void> {
    const { user, sessionId, current, password } = given;
    checkPassword(password, user.email);
    await this.authenticate({ email: user.email, password: current });
    const passwordHash = await this.passwords.hash(password);
    await this.store.setPassword({ userId: user.id, passwordHash, keepSession: sessionId }, audit);
  }

  /** For audit records; the id if the user does not exist. */
  async emailOf(userId: string): Promise<string> {
    return (await this.store.user(userId))?.email ?? userId;
  }

  /** At least one operator must remain. */
  async removeOperator(userId: string, audit: AuditRecord): Promise<void> {
    const outcome = await this.store.removeOperator(userId, this.clock.nowMs(), audit);
    if (outcome === "none") throw new Problem({ code: "not_found", message: "Unknown operator." });
    if (outcome === "last")
      throw new Problem({
        code: "conflict",
        message: "This is the only operator. Make another user an operator first.",
      });
  }

  /** Refuses to leave an account without an owner, unless it is forced. */
  async setRole(
    member: MemberOf & { readonly role: AccountRole },
    audit: AuditRecord,
  ): Promise<void> {
    checkOutcome(await this.store.setRole({ ...member, nowMs: this.clock.nowMs() }, audit));
  }

  async removeMember(member: MemberOf, audit: AuditRecord): Promise<void> {
    checkOutcome(
      await this.store.removeMembership({ ...member, nowMs: this.clock.nowMs() }, audit),
    );
  }
}

interface MemberOf {
  readonly accountId: string;
  readonly userId: string;
  readonly isForced: boolean;
}

function checkOutcome(outcome: MembershipOutcome): void {
  if (outcome === "none") throw noMember();
  if (outcome === "last")
    throw new Problem({
      code: "conflict",
      message: "This is the only owner of the account. Make another member an owner first.",
    });
}

export const noMember = () => new Problem({ code: "not_found", message: "Unknown member." });

export class WrongPassword extends Problem {
  constructor() {
    super({ code: "invalid", message: "Incorrect email address or password." });
  }
}

export class LocalSignInOff extends Problem {
  constructor(identityName: string) {
    super({ code: "conflict", message: `Sign in through ${identityName}.` });
  }
}

/** As it is kept and compared. */
export function toEmail(text: string): string {
  return text.trim().toLowerCase().normalize("NFC");
}

export function checkEmail(email: string): void {
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid({ email: "Email must be a valid address, such as ada@example.com." });
  if (hasInvisible(email)) throw invalid({ email: "Email must not contain invisible characters." });
}

export function checkName(name: string): void {
  if (name.trim() === "" || name.length > 100)
    throw invalid({ name: "The name must be 1 to 100 characters long." });
  if (hasInvisible(name))
    throw invalid({ name: "The name must not contain invisible characters." });
}
