import type { AuditActor } from "../../base/audit.ts";
import { Problem } from "../../base/problem.ts";
import type { Factors } from "../../people/factors/factors.ts";
import type { RelyingParty } from "../../people/factors/passkeys.ts";
import type { Challenge } from "../../people/factors/second-step.ts";
import type { Identities, IdentityReturn } from "../../people/identity/identities.ts";
import { type People, type Person, toEmail, type Visitor } from "../../people/people.ts";
import type { User } from "../../people/store.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";

export interface IdentityOperations {
  /** Signs in whom the identity provider has sent back. */
  enter(
    input: IdentityReturn & {
      readonly isBound: boolean;
      readonly admit: (user: User) => void;
      readonly party?: RelyingParty | undefined;
    },
  ): Promise<{
    readonly userId: string;
    /** Of the session; "" where the second factor is missing. */
    readonly secret: string;
    readonly challenge?: Challenge | undefined;
    readonly unknownAccounts: readonly string[];
  }>;
  /** Connects the identity to a user who is signed in. */
  connect(input: IdentityReturn & { readonly who: Pick<Person, "user"> }): Promise<void>;
  /** A user signed out at the identity provider: ends the sessions that it began. */
  loggedOut(input: { readonly token: string; readonly visitor: Visitor }): Promise<void>;
  /** Takes it away, with the rights that came from its groups. */
  disconnect(input: { email: string } | { id: string }): Promise<{ readonly email: string }>;
}

export const identityAudits = {
  enter: {
    action: {
      known: "session.begin",
      link: "session.begin",
      create: "person.join",
      connect: "identity.connect",
      rights: "identity.rights",
    },
  },
  connect: { action: "identity.connect" },
  loggedOut: { action: "identity.sign_out" },
  disconnect: { action: "identity.disconnect" },
} satisfies Audits<IdentityOperations>;

export interface IdentityDependencies {
  readonly people: People;
  readonly factors: Factors;
  /** Undefined: no identity provider is set up. */
  readonly identities?: Identities | undefined;
  readonly gateway?: { endTemporaryKeys(owner: string): Promise<void> } | undefined;
}

export function identityOperations({
  people,
  factors,
  identities,
  gateway,
}: IdentityDependencies): Unbound<IdentityOperations, typeof identityAudits> {
  const { store, clock } = people;
  return {
    async enter({ party, ...given }, { audit }) {
      const known = needIdentities(identities);
      const { issuer } = known.provider;
      const entered = await known.enter(given, (user, kind) =>
        auditsOf(audit, { user, kind, issuer }),
      );
      const { user, changes, secret = "", voidedBy, unknownAccounts } = entered;
      if (changes.some(({ from }) => from !== null)) await gateway?.endTemporaryKeys(user.id);
      const begun = { userId: user.id, secret, unknownAccounts };
      if (entered.secret !== undefined) return begun;
      const current = (await store.user(user.id)) ?? user;
      const challenge = await factors.secondStep.challenge(current, { party, issuer, voidedBy });
      if (challenge === undefined) throw removedMeanwhile();
      return { ...begun, challenge };
    },
    async connect({ who: { user }, ...given }, { audit }) {
      await needIdentities(identities).connect(user, given, ({ issuer }) =>
        audit({ subject: user.email, detail: { issuer } }),
      );
    },
    async loggedOut(given, { audit }) {
      const known = needIdentities(identities);
      const { issuer } = known.provider;
      await known.loggedOut(given, (user) =>
        audit({ subject: user.email, actor: actorOf(user), detail: { issuer } }),
      );
    },
    async disconnect(who, { audit }) {
      const user =
        "id" in who ? await store.user(who.id) : await store.userByEmail(toEmail(who.email));
      if (user === undefined)
        throw new Problem({ code: "not_found", message: "This user does not exist." });
      const { id, email } = user;
      if (!(await store.disconnectIdentity(id, clock.nowMs(), audit({ subject: email }))))
        throw new Problem({
          code: "conflict",
          message: `${email} is not connected to an identity provider.`,
        });
      await gateway?.endTemporaryKeys(id);
      return { email };
    },
  };
}

const actorOf = ({ id, email, isOperator }: User): AuditActor => ({
  kind: isOperator ? "operator" : "person",
  id,
  name: email,
});

function auditsOf(
  audit: Author["audit"],
  of: { readonly user: User; readonly kind: "create" | "link" | "known"; readonly issuer: string },
) {
  const { user, kind, issuer } = of;
  const shared = { subject: user.email, actor: actorOf(user) };
  return {
    entered: audit({ ...shared, kind, detail: { issuer } }),
    connected: audit({ ...shared, kind: "connect", detail: { issuer } }),
    changed: ({
      accountId,
      from,
      to,
    }: {
      accountId?: string | undefined;
      from: unknown;
      to: unknown;
    }) => audit({ ...shared, kind: "rights", accountId, detail: { from, to } }),
  };
}

export function needIdentities(identities: Identities | undefined): Identities {
  if (identities !== undefined) return identities;
  throw new Problem({
    code: "not_found",
    message: "No identity provider is set up. Set SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID.",
  });
}

const removedMeanwhile = () =>
  new Problem({ code: "conflict", message: "Your second factor has just changed. Sign in again." });
