import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import { Invites, type NewInvite } from "../../people/invites.ts";
import { People, toEmail } from "../../people/people.ts";
import type { PeopleStore } from "../../people/store.ts";

export interface PeopleParts {
  readonly people: PeopleStore;
  readonly clock: Clock;
  /** Where people reach the platform. */
  readonly platformUrl: () => string;
}

/** A link that works once; shown here and never again. */
export interface LinkView {
  readonly link: string;
  readonly email: string | null;
  readonly expires_at: string;
}

export interface OperatorView {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly created_at: string;
}

export interface OperatorOperations {
  /** For a further operator; the email is fixed where it is named. */
  invite(input: { email?: string }): Promise<LinkView>;
  /** While there is no operator: a link for the first one. Null once there is. */
  first(input: Record<never, never>): Promise<LinkView | null>;
  list(input: Record<never, never>): Promise<readonly OperatorView[]>;
}

export interface PeopleOperations {
  /** For anybody who has forgotten a password; using it ends all sessions of theirs. */
  resetPassword(input: { email: string }): Promise<LinkView>;
}

const by = { name: "command line", id: "" };

export function operatorOperations(parts: PeopleParts): OperatorOperations {
  const store = parts.people;
  const invites = new Invites(new People(store, parts.clock));
  return {
    invite: async ({ email }) => toView(parts, await invites.operator({ email, by })),
    async first() {
      const made = await invites.first();
      return made === undefined ? null : toView(parts, made);
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
  };
}

export function peopleOperations(parts: PeopleParts): PeopleOperations {
  const store = parts.people;
  const invites = new Invites(new People(store, parts.clock));
  return {
    async resetPassword({ email }) {
      const user = await store.userByEmail(toEmail(email));
      if (user === undefined)
        throw new Problem({
          code: "not_found",
          message: `There is nobody with the email address ${email}.`,
        });
      return toView(parts, await invites.reset(user, by));
    },
  };
}

const toView = ({ platformUrl }: PeopleParts, { secret, invite }: NewInvite): LinkView => ({
  link: `${platformUrl()}/join#${secret}`,
  email: invite.email ?? null,
  expires_at: toDateText(invite.expiresAtMs),
});
