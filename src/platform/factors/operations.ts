import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { Problem } from "../../base/problem.ts";
import type { Factors } from "../../people/factors/factors.ts";
import type { RelyingParty } from "../../people/factors/passkeys.ts";
import { type People, type Person, toEmail, type Visitor } from "../../people/people.ts";
import type { Audits, Unbound } from "../audit/author.ts";

interface Own {
  /** Who is signed in. */
  readonly who: Pick<Person, "user" | "session">;
}

type Codes = Promise<{ readonly recovery_codes: readonly string[] | null }>;

export interface FactorOperations {
  /** Recovery codes come with the first factor. */
  addTotp(input: Own & { ticket: string; code: string }): Codes;
  removeTotp(input: Own): Promise<void>;
  newCodes(input: Own): Promise<{ readonly recovery_codes: readonly string[] }>;
  addPasskey(
    input: Own & {
      ticket: string;
      response: RegistrationResponseJSON;
      name: string;
      party: RelyingParty;
    },
  ): Codes;
  renamePasskey(input: Own & { id: string; name: string }): Promise<void>;
  removePasskey(input: Own & { id: string }): Promise<void>;
  /** Proves once more who they are: with a factor, or the password of a user who has none. */
  verify(
    input: Own & {
      password?: string | undefined;
      code?: string | undefined;
      ticket?: string | undefined;
      passkey?: AuthenticationResponseJSON | undefined;
      party?: RelyingParty | undefined;
      visitor: Visitor;
    },
  ): Promise<void>;
  /** For a user who has lost them: removes all factors and codes, and ends all sessions. */
  reset(input: { email: string } | { id: string }): Promise<{ readonly email: string }>;
}

export const factorAudits = {
  addTotp: { action: "factor.add" },
  removeTotp: { action: "factor.remove" },
  newCodes: { action: "factor.codes" },
  addPasskey: { action: "passkey.add" },
  renamePasskey: { action: "passkey.rename" },
  removePasskey: { action: "passkey.remove" },
  verify: { action: "session.verify" },
  reset: { action: "factor.reset" },
} satisfies Audits<FactorOperations>;

export interface FactorDependencies {
  readonly people: People;
  readonly factors: Factors;
}

export function factorOperations({
  people,
  factors: { own },
}: FactorDependencies): Unbound<FactorOperations, typeof factorAudits> {
  const app = "authenticator app";
  return {
    async addTotp({ who, ...given }, { audit }) {
      return { recovery_codes: await own.addTotp(who, given, audit({ subject: app })) };
    },
    removeTotp: ({ who }, { audit }) => own.removeTotp(who, audit({ subject: app })),
    async newCodes({ who }, { audit }) {
      return { recovery_codes: await own.newCodes(who, audit({ subject: "recovery codes" })) };
    },
    async addPasskey({ who, ...given }, { audit }) {
      const record = audit({ subject: given.name.trim(), detail: { host: given.party.id } });
      return { recovery_codes: await own.addPasskey(who, given, record) };
    },
    renamePasskey: ({ who, id, name }, { audit }) =>
      own.renamePasskey(who, { id, name }, audit({ subject: name.trim() })),
    async removePasskey({ who, id }, { audit }) {
      const passkey = await people.store.passkey(id);
      const subject = passkey?.userId === who.user.id ? passkey.name : id;
      await own.removePasskey(who, id, audit({ subject }));
    },
    async verify({ who, visitor, party, password, ticket, code, passkey }, { audit }) {
      const given = { password, ticket, visitor, party, answer: { code, passkey } };
      await own.verify(who, given, audit({ subject: who.user.email }));
    },
    async reset(who, { audit }) {
      const user =
        "id" in who
          ? await people.store.user(who.id)
          : await people.store.userByEmail(toEmail(who.email));
      if (user === undefined)
        throw new Problem({ code: "not_found", message: "This user does not exist." });
      const { id, email } = user;
      if (!(await people.store.resetFactors(id, audit({ subject: email }))))
        throw new Problem({
          code: "conflict",
          message: `${email} has no second factor, so there is nothing to remove.`,
        });
      return { email };
    },
  };
}
