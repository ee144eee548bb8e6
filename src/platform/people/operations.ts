import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { AccountStore } from "../../ledger/account.ts";
import type { Factors } from "../../people/factors/factors.ts";
import type { RelyingParty } from "../../people/factors/passkeys.ts";
import type { Challenge } from "../../people/factors/second-step.ts";
import { Invites, type Joining } from "../../people/invites.ts";
import { checkName, type People, toEmail } from "../../people/people.ts";
import type { TimeZoneChoice } from "../../people/preferences.ts";
import type { User } from "../../people/store.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { accountNames } from "../input/values.ts";
import { mailDetail, toDelivery, toResetLetter } from "../mail/delivery.ts";
import { Forgotten } from "../mail/forgotten.ts";
import { invitationLetter, inviterName } from "../mail/letters.ts";
import type { Post } from "../mail/post.ts";
import type { LinkView, OperatorView, PeopleView } from "./schemas.ts";
import { toInvited, toLink, toPersonView } from "./views.ts";

export interface PeopleDependencies {
  /** One for the whole process: it counts the failed sign-ins. */
  readonly people: People;
  readonly factors: Factors;
  readonly accounts: AccountStore;
  /** Where people reach the platform. */
  readonly platformUrl: () => string;
  readonly post?: Post | undefined;
  readonly gateway?: { endTemporaryKeys(owner: string): Promise<void> } | undefined;
}

export interface OperatorOperations {
  /** For a further operator; the email is fixed where it is named. */
  invite(input: { email?: string | undefined; mail?: boolean | undefined }): Promise<LinkView>;
  /** Takes a link back, whatever it is for. */
  uninvite(input: { id: string }): Promise<void>;
  /** A link for the first operator; null once there is one. */
  first(input: Record<never, never>): Promise<LinkView | null>;
  list(input: Record<never, never>): Promise<readonly OperatorView[]>;
  /** Removes the role. At least one operator must remain. */
  remove(input: { id: string }): Promise<void>;
}

export const operatorAudits = {
  invite: { action: "operator.invite", detail: mailDetail },
  uninvite: { action: "operator.uninvite" },
  first: { action: "operator.invite" },
  list: null,
  remove: { action: "operator.remove" },
} satisfies Audits<OperatorOperations>;

export function operatorOperations(
  dependencies: PeopleDependencies,
): Unbound<OperatorOperations, typeof operatorAudits> {
  const { people, platformUrl, gateway, post } = dependencies;
  const { store } = people;
  const invites = new Invites(people);
  return {
    async invite({ email, mail }, { actor, audit }) {
      const delivery = toDelivery(post, { mail, email, by: actor });
      const made = await invites.operator({ email, by: actor }, (invite) =>
        audit({ subject: invite.email ?? invite.id }),
      );
      return delivery(toLink(platformUrl(), made), ({ link, expires_at: expiresAt }) =>
        invitationLetter({ by: inviterName(actor), link, expiresAt }),
      );
    },
    async uninvite({ id }, { audit }) {
      const invite = (await store.allInvites()).find((one) => one.id === id);
      const { email = id, accountId } = invite ?? {};
      if (!(await store.removeInvite(id, audit({ subject: email, accountId }))))
        throw new Problem({ code: "not_found", message: "This link no longer exists." });
    },
    async first(_, { audit }) {
      const made = await invites.first(({ id }) => audit({ subject: id }));
      return made === undefined ? null : toLink(platformUrl(), made);
    },
    async list() {
      return (await store.users())
        .filter(({ isOperator }) => isOperator)
        .map(({ id, email, name, createdAtMs }) => ({
          id,
          email,
          name,
          created_at: toDateText(createdAtMs),
        }));
    },
    async remove({ id }, { audit }) {
      await people.removeOperator(id, audit({ subject: await people.emailOf(id) }));
      await gateway?.endTemporaryKeys(id);
    },
  };
}

type JoinInput = Omit<Joining, "secret" | "factor"> & {
  readonly token: string;
  readonly party?: RelyingParty | undefined;
};

interface JoinView {
  readonly id: string;
  readonly email: string;
  readonly account: string | null;
  /** Of the session; "" where the second factor is missing. */
  readonly secret: string;
  /** For a user with a second factor: nothing has changed before it is answered. */
  readonly challenge?: Challenge | undefined;
}

export interface PeopleOperations {
  /** All users and all open links. */
  list(input: Record<never, never>): Promise<PeopleView>;
  /** A password reset link; using it ends all sessions of the user. */
  resetPassword(
    input: ({ email: string } | { id: string }) & { mail?: boolean | undefined },
  ): Promise<LinkView>;
  /** For a visitor who may be that user: mails a reset link, and returns nothing about it. */
  forgot(input: { email: string; network: string }): Promise<void>;
  /** Uses a link to join or to choose a new password, and signs in. */
  join(input: JoinInput): Promise<JoinView>;
  rename(input: { id: string; name: string }): Promise<void>;
  setTimeZone(input: { id: string; timeZone: TimeZoneChoice }): Promise<void>;
  dismiss(input: { id: string; hint: string }): Promise<void>;
  changePassword(input: {
    id: string;
    sessionId: string;
    current: string;
    password: string;
  }): Promise<void>;
  /** All of them: the user must sign in again. */
  endSessions(input: { id: string }): Promise<{ readonly ended: number }>;
}

export const peopleAudits = {
  list: null,
  resetPassword: { action: "person.reset", detail: mailDetail },
  forgot: { action: "person.forgot" },
  join: { action: { operator: "person.join", member: "person.join", reset: "person.password" } },
  rename: { action: "person.rename" },
  setTimeZone: { action: "person.time_zone" },
  dismiss: { action: "person.dismiss" },
  changePassword: { action: "person.password" },
  endSessions: { action: "person.sessions" },
} satisfies Audits<PeopleOperations>;

export function peopleOperations(
  dependencies: PeopleDependencies,
): Unbound<PeopleOperations, typeof peopleAudits> {
  const { people, factors, platformUrl, post } = dependencies;
  const { store } = people;
  const invites = new Invites(people);
  const forgotten = new Forgotten(people.clock);
  return {
    list: () => listPeople(dependencies),
    async resetPassword(who, { actor, audit }) {
      const user = await ("id" in who
        ? findPerson(people, who.id)
        : findByEmail(people, who.email));
      const delivery = toDelivery(post, { mail: who.mail, email: user.email, by: actor });
      const made = await invites.reset(user, actor, () => audit({ subject: user.email }));
      return delivery(toLink(platformUrl(), made), toResetLetter);
    },
    async forgot({ email: given, network }, { actor, audit }) {
      if (post?.isReady !== true)
        throw new Problem({
          code: "conflict",
          message: "This server sends no mail. Ask an operator for a reset link.",
        });
      const email = toEmail(given);
      forgotten.ask({ email, network }, async () => {
        const user = await store.userByEmail(email);
        if (user === undefined || !(await mayReset(people, user))) return;
        const by = { id: user.id, name: "forgotten password" };
        const made = await invites.reset(user, by, () => audit({ subject: user.email }));
        const view = toLink(platformUrl(), made);
        await post.send(user.email, toResetLetter(view), { ...actor, id: user.id });
      });
    },
    async join({ token, party, ...given }, { audit }) {
      const joined = await invites.accept(
        { secret: token, ...given },
        ({ user: { id, email }, invite: { kind, accountId } }) =>
          audit({ subject: email, accountId, kind, actor: { kind: "person", id, name: email } }),
      );
      const { id, email } = joined.user;
      if (!("pending" in joined))
        return { id, email, account: joined.invite.accountId ?? null, secret: joined.secret };
      const { user, pending: invite } = joined;
      const challenge = await factors.secondStep.challenge(user, { party, invite });
      return { id, email, account: null, secret: "", challenge };
    },
    async rename({ id, name }, { audit }) {
      checkName(name);
      await store.rename(id, name.trim(), audit({ subject: name.trim() }));
    },
    async setTimeZone({ id, timeZone }, { audit }) {
      await store.setTimeZone(id, timeZone, audit({ subject: timeZone }));
    },
    async dismiss({ id, hint }, { audit }) {
      await store.dismiss(id, hint, audit({ subject: hint }));
    },
    async changePassword({ id, ...given }, { audit }) {
      const user = await findPerson(people, id);
      await people.changePassword({ user, ...given }, audit({ subject: "own password" }));
    },
    async endSessions({ id }, { audit }) {
      const user = await findPerson(people, id);
      const ended = (await store.sessions(user.id)).length;
      return {
        ended: await store.endSessions(
          { userId: user.id },
          audit({ subject: user.email, detail: { ended } }),
        ),
      };
    },
  };
}

/** Users of the identity provider ask there, or an operator: a mailbox must not open a second way. */
async function mayReset(people: People, user: User): Promise<boolean> {
  const identity = await people.store.identityOf(user.id);
  if (identity !== undefined || user.passwordHash === "") return false;
  return people.mayEnterWith(undefined, user);
}

async function listPeople({ people, accounts }: PeopleDependencies): Promise<PeopleView> {
  const { store, clock } = people;
  const nowMs = clock.nowMs();
  const isOpen = ({ expiresAtMs }: { readonly expiresAtMs: number }) => expiresAtMs > nowMs;
  const withFactors = await store.withFactors();
  const withIdentities = await store.withIdentities();
  const names = await accountNames(accounts);
  const memberships = Map.groupBy(await store.allMemberships(), ({ userId }) => userId);
  const all = (await store.users()).map(async (user) =>
    toPersonView({
      user,
      names,
      memberships: memberships.get(user.id) ?? [],
      sessions: (await store.sessions(user.id)).filter((one) => people.endOf(one) > nowMs),
      hasFactor: withFactors.has(user.id),
      hasIdentity: withIdentities.has(user.id),
      policy: people.policy,
    }),
  );
  const invited = (await store.allInvites()).filter(isOpen).map((invite) => ({
    ...toInvited(invite),
    kind: invite.kind,
    account:
      invite.accountId === undefined
        ? null
        : { id: invite.accountId, name: names.get(invite.accountId) ?? invite.accountId },
  }));
  return { people: await Promise.all(all), invited };
}

async function findByEmail({ store }: People, email: string): Promise<User> {
  const user = await store.userByEmail(toEmail(email));
  if (user === undefined)
    throw new Problem({
      code: "not_found",
      message: `No user has the email address ${email}.`,
    });
  return user;
}

async function findPerson({ store }: People, id: string): Promise<User> {
  const user = await store.user(id);
  if (user === undefined)
    throw new Problem({ code: "not_found", message: "This user does not exist." });
  return user;
}
