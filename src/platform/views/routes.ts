import { Type } from "../../base/json/type.ts";
import { invalid } from "../../base/problem.ts";
import { viewPages } from "../../people/preferences.ts";
import { type Context, route } from "../context.ts";
import { personOf } from "../http/context.ts";
import { done, fields, isDone, oneOf, text } from "../http/schemas.ts";
import { savedViewReply } from "./schemas.ts";

const name = text({ least: 1, most: 60 });
const search = text({
  most: 2_000,
  about: "Filters, as the query of the page's address: `range=7d&by=key`.",
});

/** Filters of pages that a person has saved under a name. */
export const viewRoutes = [
  route("GET /api/me/views", {
    about: "Lists your saved views.",
    access: "person",
    reply: Type.Array(savedViewReply),
    handle: (context) => context.operations.views.list({ userId: personOf(context).user.id }),
  }),
  route("POST /api/me/views", {
    about: "Saves the filters of a page under a name. At most 50 views per user.",
    access: "person",
    body: fields({
      page: oneOf(viewPages),
      account: Type.Optional(text({ most: 60, about: "Account ID; omit for all accounts." })),
      name,
      search,
    }),
    reply: savedViewReply,
    async handle(context, { body }) {
      checkAccount(context, body.account);
      return await context.operations.views.save({ ...body, userId: personOf(context).user.id });
    },
  }),
  route("PATCH /api/me/views/:id", {
    about: "Renames a saved view or replaces its filters.",
    access: "person",
    body: fields({ name: Type.Optional(name), search: Type.Optional(search) }),
    reply: done,
    async handle(context, { params, body }) {
      const userId = personOf(context).user.id;
      await context.operations.views.update({ ...body, userId, id: params.id });
      return isDone;
    },
  }),
  route("DELETE /api/me/views/:id", {
    about: "Deletes a saved view.",
    access: "person",
    reply: done,
    async handle(context, { params }) {
      await context.operations.views.remove({ userId: personOf(context).user.id, id: params.id });
      return isDone;
    },
  }),
] as const;

/** A view of an account that one cannot open would be of no use. */
function checkAccount(context: Context, account: string | undefined): void {
  const { user, memberships } = personOf(context);
  if (user.isOperator) return;
  if (account === undefined)
    throw invalid({ account: "account is required: only operators can see all accounts." });
  if (memberships.every(({ accountId }) => accountId !== account))
    throw invalid({ account: "You are not a member of this account." });
}
