import { Type } from "typebox";
import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import { accountRoles } from "../../people/role.ts";
import { inviteKinds, type Membership, type User } from "../../people/store.ts";
import { type Context, route } from "../context.ts";
import { actorOf } from "../http/context.ts";
import { done, fields, isDone, moment, nullable, oneOf, text } from "../http/schemas.ts";
import { linkReply, toInvited } from "./schemas.ts";

const personReply = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  is_operator: Type.Boolean(),
  created_at: moment(),
  accounts: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), role: oneOf(accountRoles) }),
  ),
  sessions: Type.Integer({ description: "Browsers in which the person is signed in." }),
  last_seen_at: nullable(moment("In a browser that is still signed in; to five minutes.")),
});

const openReply = Type.Object({
  id: Type.String(),
  kind: oneOf(inviteKinds),
  email: nullable(Type.String()),
  account: nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  role: nullable(Type.String()),
  invited_by: Type.String(),
  expires_at: moment(),
});

/**
 * Everybody who can sign in. Changes have no area: a token that could make an operator, or choose
 * a person's password, would be let into everything.
 */
export const peopleRoutes = [
  route("GET /api/people", {
    about: "Everybody who can sign in, and every link that is open.",
    access: "operator",
    area: "members",
    reply: Type.Object({ people: Type.Array(personReply), invited: Type.Array(openReply) }),
    handle: (context) => listPeople(context),
  }),
  route("POST /api/people/invites", {
    about: "Makes a link by which one person becomes an operator; nothing is sent.",
    access: "operator",
    body: fields({ email: Type.Optional(text({ most: 254 })) }),
    reply: linkReply,
    handle: ({ operations }, { body: { email = "" } }) =>
      operations.operators.invite(email === "" ? {} : { email }),
  }),
  route("DELETE /api/people/invites/:id", {
    about: "Takes a link back, whatever it is for: it works no more.",
    access: "operator",
    reply: done,
    async handle({ operations }, { params }) {
      await operations.operators.uninvite({ id: params.id });
      return isDone;
    },
  }),
  route("DELETE /api/people/:id/operator", {
    about:
      "Takes the operator's role away; accounts of the person stay. One operator must be left.",
    access: "operator",
    query: fields({
      oneself: Type.Optional(oneOf(["yes"], { description: "Needed for one's own role." })),
    }),
    reply: done,
    async handle({ operations, actor }, { params, query }) {
      if (actorOf(actor).id === params.id && query.oneself !== "yes")
        throw new Problem({
          code: "conflict",
          message:
            "This is your own role, and you could not give it back to yourself. Confirm it with oneself=yes.",
        });
      await operations.operators.remove({ id: params.id });
      return isDone;
    },
  }),
  route("POST /api/people/:id/reset", {
    about:
      "Makes a link by which a person can choose a new password; when it is used, all sessions of theirs end.",
    access: "operator",
    reply: linkReply,
    handle: ({ operations }, { params }) => operations.people.resetPassword({ id: params.id }),
  }),
  route("DELETE /api/people/:id/sessions", {
    about: "Ends all sessions of a person: they must sign in again.",
    access: "operator",
    reply: Type.Object({ ended: Type.Integer() }),
    handle: ({ operations }, { params }) => operations.people.endSessions({ id: params.id }),
  }),
] as const;

async function listPeople({ dependencies }: Context) {
  const { store } = dependencies.people;
  const accounts = await dependencies.accounts.list();
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const memberships = Map.groupBy(await store.allMemberships(), ({ userId }) => userId);
  const people = await Promise.all(
    (await store.users()).map((user) => toPerson(dependencies, { user, names, memberships })),
  );
  const nowMs = dependencies.clock.nowMs();
  return {
    people,
    invited: (await store.allInvites())
      .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
      .map((invite) => ({
        ...toInvited(invite),
        kind: invite.kind,
        account: toNamed(invite.accountId, names),
      })),
  };
}

type Names = ReadonlyMap<string, string>;

function toNamed(id: string | undefined, names: Names) {
  return id === undefined ? null : { id, name: names.get(id) ?? id };
}

async function toPerson(
  { people: { store }, clock }: Context["dependencies"],
  of: {
    readonly user: User;
    readonly names: Names;
    readonly memberships: ReadonlyMap<string, readonly Membership[]>;
  },
) {
  const { user, names, memberships } = of;
  const sessions = (await store.sessions(user.id)).filter(
    ({ expiresAtMs }) => expiresAtMs > clock.nowMs(),
  );
  const [latest] = sessions;
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    is_operator: user.isOperator,
    created_at: toDateText(user.createdAtMs),
    accounts: (memberships.get(user.id) ?? []).flatMap(({ accountId, role }) => {
      const name = names.get(accountId);
      return name === undefined ? [] : [{ id: accountId, name, role }];
    }),
    sessions: sessions.length,
    last_seen_at: latest === undefined ? null : toDateText(latest.lastSeenMs),
  };
}
