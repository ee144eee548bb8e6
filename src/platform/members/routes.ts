import { Type } from "../../base/json/type.ts";
import type { AccountRole } from "../../people/role.ts";
import { route } from "../context.ts";
import { isOwner } from "../http/entry.ts";
import { done, fields, isDone, text } from "../http/schemas.ts";
import { linkReply, mailQuery, mailWish } from "../people/schemas.ts";
import { checkOther, toLinkReply } from "../people/views.ts";
import { membersReply, role } from "./schemas.ts";

const forOwners = {
  when: "`role` is `owner`",
  applies: (body: { readonly role: AccountRole }) => body.role === "owner",
};

/** Members of an account. */
export const memberRoutes = [
  route("GET /api/accounts/:account/members", {
    about: "Lists the members and open invitations of an account.",
    access: "viewer",
    area: "members",
    reply: membersReply,
    async handle({ operations, account, actor, isOperator }) {
      const list = await operations.members.list({ account: account.id });
      if (isOperator) return list;
      const hidden = {
        may_reset_password: null,
        ...(!isOwner(actor, account.id) && { has_second_factor: null, has_identity_factor: null }),
      };
      return { ...list, members: list.members.map((member) => ({ ...member, ...hidden })) };
    },
  }),
  // Without an area, like the next but one: what a token lets people become could do more than it.
  route("POST /api/accounts/:account/invites", {
    about:
      "Creates a single-use invitation link to the account. With `mail`, it is sent to the email address.",
    access: "owner",
    needsRecentFor: forOwners,
    body: fields({ role, email: Type.Optional(text({ most: 254 })), mail: mailWish }),
    reply: linkReply,
    async handle({ operations, account }, { body: { role: wanted, email = "", mail } }) {
      const invited = await operations.members.invite({
        account: account.id,
        role: wanted,
        email: email === "" ? undefined : email,
        mail,
      });
      return toLinkReply(invited);
    },
  }),
  route("DELETE /api/accounts/:account/invites/:id", {
    about: "Revokes an invitation and its link.",
    access: "owner",
    area: "members",
    reply: done,
    async handle({ operations, account }, { params }) {
      await operations.members.uninvite({ account: account.id, id: params.id });
      return isDone;
    },
  }),
  route("PATCH /api/accounts/:account/members/:id", {
    about:
      "Changes the role of a member. Their links and tokens that need the old role are revoked.",
    access: "owner",
    needsRecentFor: forOwners,
    body: fields({ role }),
    reply: done,
    async handle({ operations, account, isOperator: isForced }, { params, body }) {
      const member = { account: account.id, id: params.id };
      await operations.members.setRole({ ...member, role: body.role, isForced });
      return isDone;
    },
  }),
  route("DELETE /api/accounts/:account/members/:id", {
    about:
      "Removes a member from the account and revokes the links and tokens they created. Keys stay.",
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
      "Creates a password reset link for another member. Operators only, because a password opens all accounts of that user.",
    access: "operator",
    needsRecent: true,
    query: fields({ mail: mailQuery }),
    reply: linkReply,
    async handle({ operations, account, actor }, { params, query }) {
      checkOther(actor, params.id);
      const mail = query.mail === "yes";
      const of = { account: account.id, id: params.id, mail };
      return toLinkReply(await operations.members.resetPassword(of));
    },
  }),
] as const;
