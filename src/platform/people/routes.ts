import { Type } from "../../base/json/type.ts";
import { Problem } from "../../base/problem.ts";
import { route } from "../context.ts";
import { actorOf } from "../http/context.ts";
import { done, fields, isDone, oneOf, text } from "../http/schemas.ts";
import { linkReply, mailQuery, mailWish, peopleReply } from "./schemas.ts";
import { checkOther, toLinkReply } from "./views.ts";

/**
 * Users. Changes have no area: a token that could create an operator or reset a password would give
 * access to everything.
 */
export const peopleRoutes = [
  route("GET /api/people", {
    about: "Lists all users and all open links.",
    access: "operator",
    area: "members",
    reply: peopleReply,
    handle: ({ operations }) => operations.people.list({}),
  }),
  route("POST /api/people/invites", {
    about:
      "Creates a single-use invitation link for an operator. With `mail`, it is sent to the email address.",
    access: "operator",
    needsRecent: true,
    body: fields({ email: Type.Optional(text({ most: 254 })), mail: mailWish }),
    reply: linkReply,
    async handle({ operations }, { body: { email = "", mail } }) {
      const wanted = { email: email === "" ? undefined : email, mail };
      return toLinkReply(await operations.operators.invite(wanted));
    },
  }),
  route("DELETE /api/people/invites/:id", {
    about: "Revokes a link of any kind.",
    access: "operator",
    reply: done,
    async handle({ operations }, { params }) {
      await operations.operators.uninvite({ id: params.id });
      return isDone;
    },
  }),
  route("DELETE /api/people/:id/operator", {
    about:
      "Removes the operator role from a user; account memberships stay. At least one operator must remain.",
    access: "operator",
    needsRecent: true,
    query: fields({
      oneself: Type.Optional(oneOf(["yes"], { description: "Required to remove your own role." })),
    }),
    reply: done,
    async handle({ operations, actor }, { params, query }) {
      if (actorOf(actor).id === params.id && query.oneself !== "yes")
        throw new Problem({
          code: "conflict",
          message:
            "You would remove your own operator role and could not restore it. To confirm, send oneself=yes.",
        });
      await operations.operators.remove({ id: params.id });
      return isDone;
    },
  }),
  route("POST /api/people/:id/reset", {
    about:
      "Creates a password reset link for another user. Using it ends all sessions of that user.",
    access: "operator",
    needsRecent: true,
    query: fields({ mail: mailQuery }),
    reply: linkReply,
    async handle({ operations, actor }, { params, query }) {
      checkOther(actor, params.id);
      const of = { id: params.id, mail: query.mail === "yes" };
      return toLinkReply(await operations.people.resetPassword(of));
    },
  }),
  route("DELETE /api/people/:id/sessions", {
    about: "Ends all sessions of a user, who must sign in again.",
    access: "operator",
    reply: Type.Object({ ended: Type.Integer() }),
    handle: ({ operations }, { params }) => operations.people.endSessions({ id: params.id }),
  }),
] as const;
