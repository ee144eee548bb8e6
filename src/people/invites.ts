import type { AuditRecord } from "../base/audit.ts";
import { newId } from "../base/ids.ts";
import { invalid, Problem } from "../base/problem.ts";
import { hasFactor, type Proof, type ProofOutcome } from "./factors/store.ts";
import type { PendingInvite } from "./factors/tickets.ts";
import { checkPassword } from "./passwords.ts";
import { checkEmail, checkName, type NewSession, type People, toEmail } from "./people.ts";
import { hashSecret, newSecret } from "./session-secrets.ts";
import {
  type Acceptance,
  type AcceptOutcome,
  firstStart,
  type Invite,
  type Membership,
  type User,
} from "./store.ts";
import type { LinkMaker } from "./user.ts";

const dayMs = 86_400_000;
const inviteMs = 7 * dayMs;
const resetMs = dayMs;

/** A person, a token, or the command line, which has no id. */
export interface Maker {
  readonly name: string;
  readonly id: string;
}

export interface NewInvite {
  /** For the link; shown once. */
  readonly secret: string;
  readonly invite: Invite;
}

export interface Joining extends Omit<NewSession, "userId"> {
  readonly secret: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export interface Joined {
  readonly user: User;
  readonly invite: Invite;
  /** Of the session. */
  readonly secret: string;
}

/** The user has a second factor, so nothing has changed yet. */
export interface Unproven {
  readonly user: User;
  readonly pending: PendingInvite;
}

type ToAudit = (invite: Invite) => AuditRecord;
type Changes = Omit<Acceptance, "inviteId" | "addSession"> & { readonly user: User };

/** Single-use links. The creator hands the link over, or the platform mails it. */
export class Invites {
  readonly #people: People;

  constructor(people: People) {
    this.#people = people;
  }

  operator(options: Pick<Invite, "email"> & { readonly by: Maker }, audit: ToAudit) {
    return this.#add({ kind: "operator", ...options, lastsMs: inviteMs }, audit);
  }

  member(
    options: Pick<Membership, "accountId" | "role"> &
      Pick<Invite, "email"> & { readonly by: Maker },
    audit: ToAudit,
  ) {
    return this.#add({ kind: "member", ...options, lastsMs: inviteMs }, audit);
  }

  /** For a forgotten password; revokes an older link for the same user. */
  async reset(user: User, by: Maker, audit: ToAudit): Promise<NewInvite> {
    const { id: userId, email } = user;
    const maker = linkMakerOf(by.id, user);
    // Else a session of the provider could become one that the provider cannot end.
    if (!(await this.#people.mayEnterWith(maker, user)))
      throw maker === undefined ? this.#people.localSignInOff() : this.#uselessPassword(email);
    return this.#add({ kind: "reset", userId, email, by, lastsMs: resetMs }, audit);
  }

  /** Until there is an operator, every start creates a new link; only the newest works. */
  async first(audit: ToAudit): Promise<NewInvite | undefined> {
    if ((await this.#people.store.countOperators()) > 0) return undefined;
    return this.operator({ by: { name: firstStart, id: "" } }, audit);
  }

  #uselessPassword(email: string): Problem {
    const { identityName } = this.#people.policy;
    return new Problem({
      code: "conflict",
      message: `${email} can only sign in through ${identityName}, because groups there give them access. A password would not let them in.`,
    });
  }

  look(secret: string): Promise<Invite> {
    return this.#find(hashSecret(secret));
  }

  async #find(hash: string): Promise<Invite> {
    const { store, clock } = this.#people;
    const invite = await store.inviteByHash(hash);
    if (invite === undefined || invite.expiresAtMs <= clock.nowMs())
      throw new Problem({
        code: "not_found",
        message: "This link has been used, has expired or was revoked. Ask for a new one.",
      });
    return invite;
  }

  /** Creates the user if the email is new; a known user must enter the password. */
  async accept(
    given: Joining,
    audit: (joined: Pick<Joined, "user" | "invite">) => AuditRecord,
  ): Promise<Joined | Unproven> {
    const invite = await this.look(given.secret);
    const email = invite.email ?? toEmail(given.email);
    checkEmail(email);
    if (invite.email !== undefined && given.email !== "" && toEmail(given.email) !== invite.email)
      throw invalid({
        email: `The email address must be ${invite.email}, because the link was created for it.`,
      });
    const { user, ...changes } =
      invite.kind === "reset"
        ? await this.#reset(invite, given)
        : await this.#join(invite, { ...given, email });
    if (changes.addUser === undefined && hasFactor(await this.#people.store.factors(user.id)))
      return {
        user,
        pending: { hash: invite.hash, passwordHash: changes.newPassword?.passwordHash },
      };
    const { visitor, isBound } = given;
    const { secret, session } = this.#people.newSession({
      userId: user.id,
      visitor,
      isBound,
      link: makerOf(invite, user),
    });
    const acceptance = { inviteId: invite.id, ...changes, addSession: session };
    checkUse(await this.#people.store.accept(acceptance, audit({ user, invite })));
    return { user, invite, secret };
  }

  /** The rest of `accept`, once the user has proved the second factor. */
  async complete(
    given: Omit<NewSession, "userId" | "factor"> & Unproven & { readonly proof: Proof },
    audit: (joined: Pick<Joined, "user" | "invite">) => AuditRecord,
  ): Promise<Joined | Exclude<ProofOutcome, "accepted">> {
    const { user, pending, proof, visitor, isBound } = given;
    const invite = await this.#find(pending.hash);
    const { secret, session } = this.#people.newSession({
      userId: user.id,
      visitor,
      isBound,
      factor: proof.factor,
      link: makerOf(invite, user),
    });
    const { passwordHash } = pending;
    const outcome = await this.#people.store.accept(
      {
        inviteId: invite.id,
        ...this.#changes(invite, user),
        newPassword: passwordHash === undefined ? undefined : { userId: user.id, passwordHash },
        addSession: session,
        proof,
      },
      audit({ user, invite }),
    );
    if (outcome === "spent" || outcome === "cloned" || outcome === "ticket-used") return outcome;
    checkUse(outcome);
    return { user, invite, secret };
  }

  async #reset(invite: Invite, { password }: Joining): Promise<Changes> {
    const { store, passwords } = this.#people;
    const user = await store.user(invite.userId ?? "");
    if (user === undefined)
      throw new Problem({ code: "not_found", message: "This user no longer exists." });
    if (!(await this.#people.mayEnterWith(makerOf(invite, user), user)))
      throw this.#people.localSignInOff();
    checkPassword(password, user.email);
    const passwordHash = await passwords.hash(password);
    return { user, newPassword: { userId: user.id, passwordHash } };
  }

  async #join(invite: Invite, given: Joining): Promise<Changes> {
    const { store, passwords, clock } = this.#people;
    const known = await store.userByEmail(given.email);
    if (known !== undefined) {
      const user = await this.#people.authenticate(given, given.visitor);
      if (makerOf(invite, user) === undefined) await this.#people.checkLocal(user);
      return { user, ...this.#changes(invite, user) };
    }
    checkName(given.name);
    checkPassword(given.password, given.email);
    const nowMs = clock.nowMs();
    const user: User = {
      id: newId("user", nowMs),
      email: given.email,
      name: given.name.trim(),
      passwordHash: await passwords.hash(given.password),
      isOperator: invite.kind === "operator",
      createdAtMs: nowMs,
    };
    return { user, ...this.#changes(invite, user), addUser: user };
  }

  #changes(invite: Invite, user: User): Omit<Changes, "user"> {
    const { accountId, role } = invite;
    const createdAtMs = this.#people.clock.nowMs();
    return {
      makeOperator: invite.kind === "operator" ? user.id : undefined,
      addMembership:
        accountId === undefined || role === undefined
          ? undefined
          : { userId: user.id, accountId, role, createdAtMs },
    };
  }

  async #add(
    options: Pick<Invite, "kind" | "email" | "userId" | "accountId" | "role"> & {
      readonly by: Maker;
      readonly lastsMs: number;
    },
    audit: ToAudit,
  ): Promise<NewInvite> {
    const { lastsMs, by, ...rest } = options;
    const email = rest.email === undefined ? undefined : toEmail(rest.email);
    if (email !== undefined) checkEmail(email);
    const nowMs = this.#people.clock.nowMs();
    const secret = newSecret();
    const invite: Invite = {
      ...rest,
      email,
      id: newId("invite", nowMs),
      hash: hashSecret(secret),
      createdBy: by.name,
      createdById: by.id,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + lastsMs,
    };
    await this.#people.store.addInvite(invite, audit(invite));
    return { secret, invite };
  }
}

const makerOf = ({ createdById }: Invite, user: User) => linkMakerOf(createdById, user);

/** Only the command line has no id. A user's own link allows no more than the password does. */
function linkMakerOf(createdById: string, { id }: User): LinkMaker | undefined {
  if (createdById === "") return "machine";
  return createdById === id ? undefined : "person";
}

function checkUse(outcome: AcceptOutcome): void {
  if (outcome === "used")
    throw new Problem({
      code: "conflict",
      message: "This link has just been used. Ask for a new one.",
    });
  if (outcome === "email-taken")
    throw new Problem({
      code: "conflict",
      message: "A user with this email address has just joined. Try again.",
    });
}
