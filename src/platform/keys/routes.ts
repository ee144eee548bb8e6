import { optionalDate } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { toUsd } from "../../base/money.ts";
import { Problem } from "../../base/problem.ts";
import { periodStartMs } from "../../call/limits.ts";
import { type Context, route, routeWith } from "../context.ts";
import { fields, limitFields, nullable, says, text, type View } from "../http/schemas.ts";
import { checkKeyWords, readExpiry } from "./operations.ts";
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
    async handle(context) {
      const { operations, account } = context;
      const of = { account: account.id };
      const keys = await operations.keys.list(of);
      return (await withSpending(context, keys, of)).toReversed();
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
    about:
      "Changes the name, the allowed models, the expiration date or the limits of a key, effective immediately.",
    body: fields({
      name: Type.Optional(name),
      models: Type.Optional(nullable(models)),
      expires: Type.Optional(text({ most: 40, about: "Day or time in UTC, or `never`." })),
      ...limitFields,
    }),
    reply: changedReply,
    async handle(context, { params, body: { name: called, models: wanted, expires, ...limits } }) {
      const { operations, dependencies } = context;
      let view = await findKey(context, params.id);
      let warnings: readonly string[] = [];
      const hasLimits = Object.keys(limits).length > 0;
      const change = { id: params.id, name: called, models: wanted, expires };
      const isUpdate = called !== undefined || wanted !== undefined || expires !== undefined;
      if (!hasLimits && !isUpdate)
        throw new Problem({
          code: "invalid",
          message: "Nothing to change. Set name, models, expires or a limit.",
        });
      // Before the limits are changed: all of it is taken, or nothing.
      checkKeyWords(called ?? "", wanted ?? undefined);
      readExpiry(expires, dependencies.clock.nowMs());
      if (hasLimits) view = await operations.keys.setLimits({ id: params.id, ...limits });
      if (isUpdate) ({ warnings, ...view } = await operations.keys.update(change));
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
  forDevelopers("POST /api/accounts/:account/keys/:id/pause", {
    about: "Pauses a key, effective immediately. Its calls are rejected until it is resumed.",
    reply: keyReply,
    handle: changeKey("pause"),
  }),
  forDevelopers("POST /api/accounts/:account/keys/:id/resume", {
    about: "Resumes a paused key, effective immediately.",
    reply: keyReply,
    handle: changeKey("resume"),
  }),
  forDevelopers("DELETE /api/accounts/:account/keys/:id", {
    about: "Revokes a key, effective immediately.",
    reply: keyReply,
    handle: changeKey("revoke"),
  }),
] as const;

type ListedView = View<typeof listedReply>;

/** With what each of them has spent, of its budget and this month. */
export async function withSpending(
  context: Context,
  keys: readonly KeyView[],
  of: { readonly account?: string } = {},
): Promise<readonly ListedView[]> {
  const [budgets, spending] = await Promise.all([
    context.operations.keys.budgets(of),
    readSpending(context, [...new Set(keys.map(({ account }) => account))], of.account),
  ]);
  const budgetOf = new Map(budgets.map((budget) => [budget.key, budget]));
  return keys.map((key) => ({
    ...key,
    budget: budgetOf.get(key.id) ?? null,
    spent_usd: spending === undefined ? null : toUsd(spending.sums.get(key.id) ?? 0n),
    spent_as_of: optionalDate(spending?.missingSinceMs),
  }));
}

/** Undefined while reports are overloaded: the keys are listed all the same. */
async function readSpending(
  { dependencies, inTurn }: Context,
  accountIds: readonly string[],
  accountId: string | undefined,
) {
  const { clock, reports } = dependencies;
  const nowMs = clock.nowMs();
  const fromMs = periodStartMs("month", nowMs);
  const query = { accountIds, fromMs, toMs: nowMs + 1 };
  return inTurn(async () => {
    const missingSinceMs = await reports.catchUp(accountId);
    return { missingSinceMs, sums: await reports.keySpending(query) };
  }).catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });
}

/** Does not reveal whether the key exists in another account. */
function changeKey(change: "pause" | "resume" | "revoke") {
  return async (context: Context, { params }: { readonly params: { readonly id: string } }) => {
    await findKey(context, params.id);
    return context.operations.keys[change]({ id: params.id });
  };
}

async function findKey({ operations, account }: Context, id: string): Promise<KeyView> {
  const keys = await operations.keys.list({ account: account.id });
  const found = keys.find((one) => one.id === id);
  if (found === undefined)
    throw new Problem({ code: "not_found", message: `Unknown key "${id}".` });
  return found;
}
