import { Problem } from "../../base/problem.ts";
import type { People } from "../../people/people.ts";
import type { User } from "../../people/store.ts";
import type { Audits, Unbound } from "../audit/author.ts";

export interface SessionOperations {
  /** For a user whose password has been verified; the secret is for the cookie. */
  begin(input: { userId: string; userAgent: string; isBound: boolean }): Promise<{
    readonly secret: string;
  }>;
  end(input: { userId: string; id: string }): Promise<void>;
}

export const sessionAudits = {
  begin: { action: "session.begin" },
  end: { action: "session.end" },
} satisfies Audits<SessionOperations>;

export function sessionOperations({
  people,
}: {
  readonly people: People;
}): Unbound<SessionOperations, typeof sessionAudits> {
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
    async end({ userId, id }, { actor, audit }) {
      if ((await store.endSessions({ userId, id }, audit({ subject: actor.name }))) === 0)
        throw new Problem({ code: "not_found", message: "Unknown session." });
    },
  };
}

const toActor = ({ id, email, isOperator }: User) =>
  ({ kind: isOperator ? "operator" : "person", id, name: email }) as const;
