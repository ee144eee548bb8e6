import { Type } from "../../base/json/type.ts";
import { type Context, route } from "../context.ts";

const count = (description: string) => Type.Integer({ description });

const operatorReply = Type.Object({
  providers: count("Providers whose keys are set; the embedded engine is not one."),
  served_models: count("Models that callers can use."),
  unpriced_models: count("Models that have a route and need a price."),
  keys: count("Active keys of all accounts."),
  members: count("Memberships in all accounts."),
  budgets: count("Accounts and active keys with a budget."),
});

const accountReply = Type.Object({
  keys: count("Active keys."),
  calls: Type.Boolean({ description: "Whether a call was ever admitted." }),
  members: count("Members."),
  budgets: count("1 for the account's budget, plus its active keys with a budget."),
});

/** What is in place and what is not: the console's setup checklists. */
export const setupRoutes = [
  route("GET /api/setup", {
    about: "Counts what a platform needs before others can use it.",
    access: "operator",
    reply: operatorReply,
    handle: (context) => operatorSetup(context),
  }),
  route("GET /api/accounts/:account/setup", {
    about: "Counts what an account needs before its applications can use it.",
    access: "owner",
    reply: accountReply,
    handle: (context) => accountSetup(context),
  }),
] as const;

async function operatorSetup({ operations, dependencies }: Context) {
  const [providers, models, keys, memberships, accounts] = await Promise.all([
    operations.providers.list({}),
    operations.catalog.list({}),
    operations.keys.list({}),
    dependencies.people.store.allMemberships(),
    dependencies.accounts.list(),
  ]);
  const active = keys.filter(isActive);
  return {
    providers: providers.filter(isConnected).length,
    served_models: models.filter(({ served }) => served).length,
    unpriced_models: models.filter(needsPrice).length,
    keys: active.length,
    members: memberships.length,
    budgets:
      accounts.filter(({ limits }) => limits?.budget !== undefined).length +
      active.filter(hasBudget).length,
  };
}

async function accountSetup({ operations, dependencies, account }: Context) {
  const [keys, memberships, { receipts }] = await Promise.all([
    operations.keys.list({ account: account.id }),
    dependencies.people.store.memberships({ accountId: account.id }),
    dependencies.reports.receipts({ accountId: account.id, limit: 1 }),
  ]);
  const active = keys.filter(isActive);
  return {
    keys: active.length,
    calls: receipts.length > 0,
    members: memberships.length,
    budgets: (account.limits?.budget === undefined ? 0 : 1) + active.filter(hasBudget).length,
  };
}

const isActive = ({ status }: { readonly status: string }) => status === "active";
const hasBudget = ({ limits }: { readonly limits: { readonly budget: string | null } }) =>
  limits.budget !== null;

interface Keyed {
  readonly api_key: { readonly is_set: boolean } | null;
}

/** One that needs no key is connected by its address alone. */
const isConnected = ({ api_key }: Keyed) => api_key === null || api_key.is_set;

interface Priced {
  readonly served: boolean;
  readonly status: string;
  readonly routes: readonly { readonly usable: boolean }[];
}

/** It has all that it takes but a price. */
const needsPrice = ({ served, status, routes }: Priced) =>
  !served && status !== "retired" && routes.some(({ usable }) => usable);
