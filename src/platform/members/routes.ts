import { Type } from "typebox";
import { route } from "../context.ts";
import { done, fields, isDone, text } from "../http/schemas.ts";
import { linkReply } from "../people/schemas.ts";
import { membersReply, role } from "./schemas.ts";

/** Who is a member of an account. */
export const memberRoutes = [
  route("GET /api/accounts/:account/members", {
    about: "The members of an account and the invitations that are open.",
    access: "viewer",
    area: "members",
    reply: membersReply,
    handle: ({ operations, account }) => operations.members.list({ account: account.id }),
  }),
  // Without an area, like the next but one: what a token lets people become could do more than it.
  route("POST /api/accounts/:account/invites", {
    about: "Makes a link by which one person can join the account; nothing is sent.",
    access: "owner",
    body: fields({ role, email: Type.Optional(text({ most: 254 })) }),
    reply: linkReply,
    handle: ({ operations, account }, { body: { role: wanted, email = "" } }) =>
      operations.members.invite({
        account: account.id,
        role: wanted,
        email: email === "" ? undefined : email,
      }),
  }),
  route("DELETE /api/accounts/:account/invites/:id", {
    about: "Takes an invitation back: its link works no more.",
    access: "owner",
    area: "members",
    reply: done,
    async handle({ operations, account }, { params }) {
      await operations.members.uninvite({ account: account.id, id: params.id });
      return isDone;
    },
  }),
  route("PATCH /api/accounts/:account/members/:id", {
    about: "Gives a member another role; links and tokens that only the old one could make end.",
    access: "owner",
    body: fields({ role }),
    reply: done,
    async handle({ operations, account, isOperator: isForced }, { params, body }) {
      const member = { account: account.id, id: params.id };
      await operations.members.setRole({ ...member, role: body.role, isForced });
      return isDone;
    },
  }),
  route("DELETE /api/accounts/:account/members/:id", {
    about: "Takes a person out of the account, with the links and tokens they made; keys stay.",
    access: "owner",
    area: "members",
    reply: done,
    async handle({ operations, account, isOperator: isForced }, { params }) {
      await operations.members.remove({ account: account.id, id: params.id, isForced });
      return isDone;
    },
  }),
  route("POST /api/accounts/:account/members/:id/reset", {
    about:
      "Makes a link by which a member can choose a new password. For operators: a password opens all of a person's accounts.",
    access: "operator",
    reply: linkReply,
    handle: ({ operations, account }, { params }) =>
      operations.members.resetPassword({ account: account.id, id: params.id }),
  }),
] as const;
