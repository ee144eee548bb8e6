import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { type Context, route, routeWith } from "../context.ts";
import { fields, limitFields, nullable, says, text } from "../http/schemas.ts";
import { checkKeyWords } from "./operations.ts";
import { changedReply, type KeyView, keyReply, listedReply, newKeyReply } from "./schemas.ts";

const forDevelopers = routeWith({ access: "developer", area: "keys" });

const mostModels = 200;
const models = Type.Array(text({ least: 1, most: 200 }), {
  minItems: 1,
  maxItems: mostModels,
  ...says(`a list of 1 to ${mostModels} model ids, or null for all models`),
});
const name = text({ most: 100 });

/** Keys of an account: with them applications call models. */
export const keyRoutes = [
  route("GET /api/accounts/:account/keys", {
    about: "Lists the keys of an account, newest first.",
    access: "viewer",
    area: "keys",
    reply: Type.Array(listedReply),
    async handle({ operations, account }) {
      const of = { account: account.id };
      const [keys, budgets] = await Promise.all([
        operations.keys.list(of),
        operations.keys.budgets(of),
      ]);
      const budgetOf = new Map(budgets.map((budget) => [budget.key, budget]));
      return keys.map((view) => ({ ...view, budget: budgetOf.get(view.id) ?? null })).toReversed();
    },
  }),
  forDevelopers("POST /api/accounts/:account/keys", {
    about: "Creates a key. The secret is shown only in this reply.",
    body: fields({
      name,
      models: Type.Optional(nullable(models)),
      expires: Type.Optional(text({ most: 40, about: "Day or time in UTC." })),
      ...limitFields,
    }),
    reply: newKeyReply,
    handle: ({ operations, account }, { body: { models: wanted, expires = "", ...rest } }) =>
      operations.keys.create({
        account: account.id,
        ...rest,
        models: wanted ?? undefined,
        expires: expires === "" ? undefined : expires,
      }),
  }),
  forDevelopers("PATCH /api/accounts/:account/keys/:id", {
    about: "Changes the name, the allowed models or the limits of a key, effective immediately.",
    body: fields({
      name: Type.Optional(name),
      models: Type.Optional(nullable(models)),
      ...limitFields,
    }),
    reply: changedReply,
    async handle(context, { params, body: { name: called, models: wanted, ...limits } }) {
      const { operations } = context;
      let view = await findKey(context, params.id);
      let warnings: readonly string[] = [];
      if (Object.keys(limits).length === 0 && called === undefined && wanted === undefined)
        throw new Problem({
          code: "invalid",
          message: "Nothing to change. Set name, models or a limit.",
        });
      // Before the limits are changed: all of it is taken, or nothing.
      checkKeyWords(called ?? "", wanted ?? undefined);
      if (Object.keys(limits).length > 0)
        view = await operations.keys.setLimits({ id: params.id, ...limits });
      if (called !== undefined || wanted !== undefined) {
        const change = { id: params.id, name: called, models: wanted };
        ({ warnings, ...view } = await operations.keys.update(change));
      }
      return { ...view, warnings };
    },
  }),
  forDevelopers("POST /api/accounts/:account/keys/:id/rotate", {
    about: "Rotates the secret of a key. The old secret keeps working during the overlap.",
    body: fields({
      overlap: Type.Optional(text({ most: 10, about: "For example 24h or 7d; 0 for none." })),
    }),
    reply: newKeyReply,
    async handle(context, { params, body }) {
      await findKey(context, params.id);
      return context.operations.keys.rotate({ id: params.id, ...body });
    },
  }),
  forDevelopers("DELETE /api/accounts/:account/keys/:id", {
    about: "Revokes a key, effective immediately.",
    reply: keyReply,
    async handle(context, { params }) {
      await findKey(context, params.id);
      return context.operations.keys.revoke({ id: params.id });
    },
  }),
] as const;

/** Does not reveal whether the key exists in another account. */
async function findKey({ operations, account }: Context, id: string): Promise<KeyView> {
  const keys = await operations.keys.list({ account: account.id });
  const found = keys.find((one) => one.id === id);
  if (found === undefined)
    throw new Problem({ code: "not_found", message: `Unknown key "${id}".` });
  return found;
}
