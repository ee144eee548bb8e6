import { Type } from "typebox";
import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import { noMember } from "../../people/people.ts";
import { accountRoles } from "../../people/role.ts";
import type { Invite } from "../../people/store.ts";
import { type Context, makerOf, type PlatformParts } from "../http/context.ts";
import { route } from "../http/route.ts";
import { done, fields, isDone, moment, nullable, oneOf, text } from "../http/schemas.ts";

const role = oneOf(accountRoles);

export const invitedReply = Type.Object({
  id: Type.String(),
  email: nullable(Type.String()),
  role: nullable(Type.String()),
  invited_by: Type.String(),
  expires_at: moment(),
});

/** The one place where a link is shown. */
export const linkReply = Type.Object({
  id: Type.String(),
  link: Type.String(),
  expires_at: moment(),
});

const memberReply = Type.Object({
  id: Type.String({ description: "Of the person." }),
  email: Type.String(),
  name: Type.String(),
  role,
  joined_at: moment(),
});

/** Who has a part in an account. */
export const memberRoutes = [
  route("GET /api/accounts/:account/members", {
    about: "The members of an account and the invitations that are open.",
    access: "viewer",
    area: "members",
    reply: Type.Object({ members: Type.Array(memberReply), invited: Type.Array(invitedReply) }),
    handle: (context) => listMembers(context),
  }),
  // Without an area, like the next but one: what a token lets people become could do more than it.
  route("POST /api/accounts/:account/invites", {
    about: "Makes a link by which one person can join the account; nothing is sent.",
    access: "owner",
    body: fields({ role, email: Type.Optional(text({ most: 254 })) }),
    reply: linkReply,
    action: "member.invite",
    told: ({ body }, { id }) => ({ subject: body.email ?? id, detail: { role: body.role } }),
    async handle({ parts, account, actor }, { body }) {
      const email = body.email === "" ? undefined : body.email;
      const by = makerOf(actor);
      return toLink(
        parts,
        await parts.invites.member({ accountId: account.id, role: body.role, email, by }),
      );
    },
  }),
  route("DELETE /api/accounts/:account/invites/:id", {
    about: "Takes an invitation back: its link works no more.",
    access: "owner",
    area: "members",
    reply: done,
    action: "member.uninvite",
    async handle({ parts, account }, { params }) {
      const { store } = parts.people;
      const mine = (await store.invites(account.id)).some(({ id }) => id === params.id);
      if (!mine || !(await store.removeInvite(params.id)))
        throw new Problem({ code: "not_found", message: "There is no such invitation any more." });
      return isDone;
    },
  }),
  route("PATCH /api/accounts/:account/members/:id", {
    about: "Gives a member another role; links and tokens that only the old one could make end.",
    access: "owner",
    body: fields({ role }),
    reply: done,
    action: "member.role",
    told: ({ params, body }) => ({ subject: params.id, detail: { role: body.role } }),
    async handle(context, { params, body }) {
      const { parts, account } = context;
      await parts.people.setRole({
        accountId: account.id,
        userId: params.id,
        role: body.role,
        isForced: context.isOperator,
      });
      await parts.operations.gateway.endTemporaryKeys({ owner: params.id });
      return isDone;
    },
  }),
  route("DELETE /api/accounts/:account/members/:id", {
    about: "Takes a person out of the account, with the links and tokens they made; keys stay.",
    access: "owner",
    area: "members",
    reply: done,
    action: "member.remove",
    async handle(context, { params }) {
      const { parts, account } = context;
      await parts.people.removeMember({
        accountId: account.id,
        userId: params.id,
        isForced: context.isOperator,
      });
      await parts.operations.gateway.endTemporaryKeys({ owner: params.id });
      return isDone;
    },
  }),
  route("POST /api/accounts/:account/members/:id/reset", {
    about:
      "Makes a link by which a member can choose a new password. For operators: a password opens all of a person's accounts.",
    access: "operator",
    reply: linkReply,
    action: "person.reset",
    told: ({ params }) => ({ subject: params.id }),
    async handle({ parts, account, actor }, { params }) {
      const members = await parts.people.store.memberships({ accountId: account.id });
      const user = members.some(({ userId }) => userId === params.id)
        ? await parts.people.store.user(params.id)
        : undefined;
      if (user === undefined) throw noMember();
      return toLink(parts, await parts.invites.reset(user, makerOf(actor)));
    },
  }),
] as const;

async function listMembers({ parts, account }: Context) {
  const { store, clock } = parts.people;
  const members = await Promise.all(
    (await store.memberships({ accountId: account.id })).map(async (membership) => {
      const user = await store.user(membership.userId);
      return {
        id: membership.userId,
        email: user?.email ?? "",
        name: user?.name ?? "",
        role: membership.role,
        joined_at: toDateText(membership.createdAtMs),
      };
    }),
  );
  const invites = await store.invites(account.id);
  const open = invites.filter(({ expiresAtMs }) => expiresAtMs > clock.nowMs());
  return { members, invited: open.map(toInvited) };
}

export function toInvited(invite: Invite) {
  return {
    id: invite.id,
    email: invite.email ?? null,
    role: invite.role ?? null,
    invited_by: invite.createdBy,
    expires_at: toDateText(invite.expiresAtMs),
  };
}

/** The secret is behind the #: browsers keep it to themselves, and no log has it. */
export function toLink(
  { platformUrl }: Pick<PlatformParts, "platformUrl">,
  { secret, invite }: { readonly secret: string; readonly invite: Invite },
) {
  return {
    id: invite.id,
    link: `${platformUrl()}/join#${secret}`,
    expires_at: toDateText(invite.expiresAtMs),
  };
}
