import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { Problem } from "../../base/problem.ts";
import type { Factors } from "../../people/factors/factors.ts";
import type { RelyingParty } from "../../people/factors/passkeys.ts";
import type { Proven } from "../../people/factors/second-step.ts";
import { Invites } from "../../people/invites.ts";
import type { People, Visitor } from "../../people/people.ts";
import type { User } from "../../people/store.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";

interface Answering {
  readonly ticket: string;
  /** The cookie that the ticket came with. */
  readonly holder: string;
  readonly party?: RelyingParty | undefined;
  readonly visitor: Visitor;
  readonly isBound: boolean;
}

/** A session that has begun; the secret is for the cookie. */
interface Begun {
  readonly userId: string;
  readonly secret: string;
  /** The account that the user joined with a link. */
  readonly account: string | null;
}

export interface SessionOperations {
  /** For a user whose password has been verified; the secret is for the cookie. */
  begin(input: { userId: string; userAgent: string; isBound: boolean }): Promise<{
    readonly secret: string;
  }>;
  /** The second step, with a code or a passkey. */
  finish(
    input: Answering & {
      code?: string | undefined;
      passkey?: AuthenticationResponseJSON | undefined;
    },
  ): Promise<Begun>;
  /** With a passkey alone. */
  beginWithPasskey(
    input: Answering & {
      readonly passkey: AuthenticationResponseJSON;
      /** Throws for a user who signs in too often. */
      readonly admit: (user: User) => void;
    },
  ): Promise<Begun>;
  end(input: { userId: string; id: string }): Promise<void>;
  /** All of the user's sessions but this one. */
  endOthers(input: { userId: string; keep: string }): Promise<{ readonly ended: number }>;
}

const begin = "session.begin";

export const sessionAudits = {
  begin: { action: begin },
  finish: {
    action: {
      "": begin,
      operator: "person.join",
      member: "person.join",
      reset: "person.password",
    },
  },
  beginWithPasskey: { action: begin },
  end: { action: "session.end" },
  endOthers: { action: "session.end_others" },
} satisfies Audits<SessionOperations>;

export interface SessionDependencies {
  readonly people: People;
  readonly factors: Pick<Factors, "secondStep">;
}

export function sessionOperations(
  dependencies: SessionDependencies,
): Unbound<SessionOperations, typeof sessionAudits> {
  const { people, factors } = dependencies;
  const { store } = people;
  return {
    async begin({ userId, userAgent, isBound }, { actor: { address }, audit }) {
      const user = await store.user(userId);
      if (user === undefined) throw new Problem({ code: "not_found", message: "Unknown user." });
      const visitor = { userAgent, address };
      const { secret, session } = people.newSession({ userId, visitor, isBound });
      await store.addSession(session, audit({ subject: user.email, actor: toActor(user) }));
      return { secret };
    },
    async finish({ code, passkey, ...given }, author) {
      let begun: Begun | undefined;
      await factors.secondStep.finish({ ...given, answer: { code, passkey } }, async (proven) => {
        const outcome = await write(people, { ...given, proven }, author);
        if (typeof outcome === "string") return outcome;
        begun = outcome;
        return "accepted";
      });
      return whatBegan(begun);
    },
    async beginWithPasskey(given, author) {
      let begun: Begun | undefined;
      await factors.secondStep.finishPasskey(given, async (proven) => {
        await people.checkLocal(proven.user);
        if (proven.user.passwordHash === "") throw people.localSignInOff();
        // Not before the proof: a stranger may know the id of a passkey.
        given.admit(proven.user);
        const outcome = await beginSession(people, { ...given, proven }, author);
        if (typeof outcome === "string") return outcome;
        begun = outcome;
        return "accepted";
      });
      return whatBegan(begun);
    },
    async end({ userId, id }, { actor, audit }) {
      if ((await store.endSessions({ userId, id }, audit({ subject: actor.name }))) === 0)
        throw new Problem({ code: "not_found", message: "Unknown session." });
    },
    async endOthers(of, { actor, audit }) {
      return { ended: await store.endSessions(of, audit({ subject: actor.name })) };
    },
  };
}

type Writing = Pick<Answering, "visitor" | "isBound"> & { readonly proven: Proven };

/** What was proven allows a session, or a link to be used. */
async function write(people: People, writing: Writing, author: Author) {
  const { visitor, isBound, proven } = writing;
  const { user, proof, invite: pending } = proven;
  if (pending === undefined) return beginSession(people, writing, author);
  const { id, email } = user;
  const joined = await new Invites(people).complete(
    { user, proof, pending, visitor, isBound },
    ({ invite: { kind, accountId } }) =>
      author.audit({ subject: email, accountId, kind, actor: { kind: "person", id, name: email } }),
  );
  if (typeof joined === "string") return joined;
  return { userId: id, secret: joined.secret, account: joined.invite.accountId ?? null };
}

async function beginSession(people: People, { visitor, isBound, proven }: Writing, author: Author) {
  const { user, proof, issuer } = proven;
  const { factor } = proof;
  const userId = user.id;
  const { secret, session } = people.newSession({ userId, visitor, isBound, factor, issuer });
  const outcome = await people.store.beginSession(
    session,
    proof,
    author.audit({ subject: user.email, actor: toActor(user), detail: { factor } }),
  );
  return outcome === "accepted" ? { userId: user.id, secret, account: null } : outcome;
}

/** Whatever was not accepted has thrown. */
function whatBegan(begun: Begun | undefined): Begun {
  if (begun === undefined) throw new Error("no session has begun");
  return begun;
}

const toActor = ({ id, email, isOperator }: User) =>
  ({ kind: isOperator ? "operator" : "person", id, name: email }) as const;
