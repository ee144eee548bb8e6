import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { route } from "../context.ts";
import { actorOf } from "../http/context.ts";
import { done, fields, isDone, oneOf, text } from "../http/schemas.ts";
import { linkReply, peopleReply } from "./schemas.ts";

/**
 * Everybody who can sign in. Changes have no area: a token that could make an operator, or choose
 * a person's password, would be let into everything.
 */
export const peopleRoutes = [
  route("GET /api/people", {
    about: "Everybody who can sign in, and every link that is open.",
    access: "operator",
    area: "members",
    reply: peopleReply,
    handle: ({ operations }) => operations.people.list({}),
  }),
  route("POST /api/people/invites", {
    about: "Makes a link by which one person becomes an operator; nothing is sent.",
    access: "operator",
    body: fields({ email: Type.Optional(text({ most: 254 })) }),
    reply: linkReply,
    handle: ({ operations }, { body: { email = "" } }) =>
      operations.operators.invite({ email: email === "" ? undefined : email }),
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
