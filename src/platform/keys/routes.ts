import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { type Context, route } from "../context.ts";
import {
  fields,
  limitFields,
  limitsReply,
  moment,
  nullable,
  oneOf,
  says,
  text,
  usd,
} from "../http/schemas.ts";
import type { KeyView } from "../views.ts";
import { checkKeyWords } from "./operations.ts";
import type { KeyBudgetView } from "./views.ts";

const key = {
  id: Type.String(),
  account: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "The shape of the secret, never the secret." }),
  models: nullable(Type.Array(Type.String(), { description: "Null: every model." })),
  status: oneOf(["active", "expired", "revoked"]),
  created_at: moment(),
  expires_at: nullable(moment()),
  revoked_at: nullable(moment()),
  last_used_at: nullable(moment("When its last call began; null: never.")),
  previous: nullable(
    Type.Object(
      { hint: Type.String(), expires_at: moment() },
      { description: "The secret before the last rotation, while it still works." },
    ),
  ),
  limits: limitsReply,
};
const keyReply = Type.Object(key);
const warnings = Type.Array(Type.String(), {
  description: "Such as a model it names that there is not yet.",
});
const changedReply = Type.Object({ ...key, warnings });
const listedReply = Type.Object({
  ...key,
  budget: nullable(
    Type.Object({
      limit_usd: usd("Most that may be spent."),
      period: oneOf(["total", "day", "month"]),
      spent_usd: usd("Within the period that goes on now."),
    }),
  ),
});
/** The one place where a key's secret is shown. */
const newKeyReply = Type.Object({
  ...key,
  key: Type.String({ description: "The secret, shown this once." }),
  warnings,
});

const mostModels = 200;
const models = Type.Array(text({ least: 1, most: 200 }), {
  minItems: 1,
  maxItems: mostModels,
  ...says(`a list of 1 to ${mostModels} models, or null for all`),
});
const name = text({ most: 100 });

/** Keys of an account: with them applications call models. */
export const keyRoutes = [
  route("GET /api/accounts/:account/keys", {
    about: "The keys of an account, the newest first.",
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
      return keys
        .map((view) => ({ ...toReply(view), budget: toBudget(budgetOf.get(view.id)) }))
        .toReversed();
    },
  }),
  route("POST /api/accounts/:account/keys", {
    about: "Makes a key; its secret is in this reply and never again.",
    access: "developer",
    area: "keys",
    body: fields({
      name,
      models: Type.Optional(nullable(models)),
      expires: Type.Optional(text({ most: 40, about: "A day or a moment in UTC." })),
      ...limitFields,
    }),
    reply: newKeyReply,
    async handle({ operations, account }, { body: { models: wanted, expires, ...rest } }) {
      const made = await operations.keys.create({
        account: account.id,
        ...rest,
        ...(wanted === undefined || wanted === null ? {} : { models: wanted }),
        ...(expires === undefined || expires === "" ? {} : { expires }),
      });
      return { ...toReply(made), key: made.key, warnings: made.warnings };
    },
  }),
  route("PATCH /api/accounts/:account/keys/:id", {
    about: "Changes a key's name, the models it may call or its limits, at once.",
    access: "developer",
    area: "keys",
    body: fields({
      name: Type.Optional(name),
      models: Type.Optional(nullable(models)),
      ...limitFields,
    }),
    reply: changedReply,
    async handle(context, { params, body: { name: called, models: wanted, ...limits } }) {
      const { operations } = context;
      let view = await findKey(context, params.id);
      let warned: readonly string[] = [];
      if (Object.keys(limits).length === 0 && called === undefined && wanted === undefined)
        throw new Problem({
          code: "invalid",
          message: "Say what to change: a name, models or a limit.",
        });
      // Before the limits are changed: all of it is taken, or nothing.
      checkKeyWords(called ?? "", wanted ?? undefined);
      if (Object.keys(limits).length > 0)
        view = await operations.keys.setLimits({ id: params.id, ...limits });
      if (called !== undefined || wanted !== undefined) {
        const updated = await operations.keys.update({
          id: params.id,
          ...(called === undefined ? {} : { name: called }),
          ...(wanted === undefined ? {} : { models: wanted }),
        });
        view = updated;
        warned = updated.warnings;
      }
      return { ...toReply(view), warnings: warned };
    },
  }),
  route("POST /api/accounts/:account/keys/:id/rotate", {
    about: "Gives a key a new secret; the old one works on for the overlap.",
    access: "developer",
    area: "keys",
    body: fields({
      overlap: Type.Optional(text({ most: 10, about: "Such as 24h or 7d; 0: none." })),
    }),
    reply: newKeyReply,
    async handle(context, { params, body }) {
      await findKey(context, params.id);
      const made = await context.operations.keys.rotate({ id: params.id, ...body });
      return { ...toReply(made), key: made.key, warnings: made.warnings };
    },
  }),
  route("DELETE /api/accounts/:account/keys/:id", {
    about: "Revokes a key: its next call is refused.",
    access: "developer",
    area: "keys",
    reply: keyReply,
    async handle(context, { params }) {
      await findKey(context, params.id);
      return toReply(await context.operations.keys.revoke({ id: params.id }));
    },
  }),
] as const;

/** A key of another account is told like one that there is not. */
async function findKey({ operations, account }: Context, id: string): Promise<KeyView> {
  const keys = await operations.keys.list({ account: account.id });
  const found = keys.find((one) => one.id === id);
  if (found === undefined)
    throw new Problem({ code: "not_found", message: `There is no key with the id ${id}.` });
  return found;
}

function toReply(view: KeyView) {
  return {
    id: view.id,
    account: view.account,
    name: view.name,
    hint: view.hint,
    models: view.models,
    status: view.status,
    created_at: view.created_at,
    expires_at: view.expires_at,
    revoked_at: view.revoked_at,
    last_used_at: view.last_used_at,
    previous: view.previous,
    limits: view.limits,
  };
}

function toBudget(view: KeyBudgetView | undefined) {
  if (view === undefined) return null;
  return { limit_usd: view.limit_usd, period: view.period, spent_usd: view.spent_usd };
}
