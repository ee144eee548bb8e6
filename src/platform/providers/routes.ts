import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { route } from "../context.ts";
import { fields, moment, nullable, oneOf, text } from "../http/schemas.ts";
import type { ProviderView, SecretView, TrialView, TroubleView, UnlistedView } from "./views.ts";

const secret = Type.Object({
  from: oneOf(["variable", "store"]),
  variable: nullable(Type.String({ description: "The variable's name." })),
  is_set: Type.Boolean({ description: "Whether it is there where the gateway runs." }),
});

const target = Type.Object({
  model: Type.String({ description: "By the upstream's own name." }),
  state: oneOf(["closed", "open", "half-open", "resting"]),
  reason: nullable(Type.String()),
  since: nullable(moment()),
  until: nullable(moment()),
  requests: Type.Integer({ description: "Of the last seconds." }),
  failures: Type.Integer(),
});

const provider = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  vendor: nullable(Type.String()),
  base_url: nullable(Type.String()),
  allow_private: Type.Boolean(),
  api_key: nullable(secret),
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      value: nullable(Type.String({ description: "Null for a secret." })),
      secret: nullable(secret),
    }),
  ),
  models: Type.Array(Type.Object({ id: Type.String(), upstream: Type.Array(Type.String()) })),
  targets: Type.Array(target),
});

const vendor = Type.Object({
  id: Type.String(),
  title: Type.String(),
  kind: Type.String(),
  base_url: nullable(Type.String()),
  on_this_machine: Type.Boolean(),
  variables: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() })),
  needs_key: Type.Boolean(),
  options: Type.Array(
    Type.Object({
      name: Type.String(),
      about: Type.String(),
      needed: Type.Boolean(),
      secret: Type.Boolean(),
      variable: nullable(Type.String()),
    }),
  ),
});

const trouble = Type.Object({
  trouble: Type.String({ description: "For machines: bad_key, no_credit, wrong_address …" }),
  what: Type.String(),
  advice: Type.String(),
});

const unlisted = Type.Array(
  Type.Object({
    model: Type.String({ description: "Our name of the model." }),
    upstream: Type.String({ description: "The name that its route has." }),
  }),
  { description: "Routes to models that the vendor does not list." },
);

const trialKinds = ["chat", "stream", "embeddings", "media", "speech", "models"] as const;
const trial = Type.Object({
  kind: oneOf(trialKinds),
  model: nullable(Type.String()),
  ok: Type.Boolean(),
  duration_ms: Type.Integer(),
  result: nullable(Type.String()),
  problem: nullable(trouble),
  unlisted,
});

const prices = nullable(Type.Record(Type.String(), Type.String()));
const offer = Type.Object({
  proposals: Type.Array(
    Type.Object({
      id: Type.String({ description: "What callers would name it." }),
      upstream: Type.String(),
      endpoint: Type.String(),
      input: Type.String(),
      price: prices,
      note: nullable(Type.String()),
    }),
  ),
  left_out: Type.Integer({ description: "Offered, but not of use here, or there already." }),
  problem: nullable(trouble),
});

const area = "providers";
const access = "operator";

/** Whom the gateway calls. */
export const providerRoutes = [
  route("GET /api/providers", {
    about: "The providers, where their keys are, and how each of their targets is doing.",
    access,
    area,
    reply: Type.Object({
      providers: Type.Array(provider),
      has_file: Type.Boolean({
        description: "svc.yaml was applied, and is again when it changes.",
      }),
    }),
    async handle({ operations }) {
      const providers = await operations.providers.list({});
      return {
        providers: providers.map(toReply),
        has_file: await operations.manifest.isApplied({}),
      };
    },
  }),
  route("GET /api/vendors", {
    about: "The vendors whose address and habits are known, and what each of them needs.",
    access,
    area,
    reply: Type.Array(vendor),
    async handle({ operations }) {
      const vendors = await operations.providers.vendors({});
      return vendors.map((one) => ({
        ...one,
        variables: [...one.variables],
        options: [...one.options],
      }));
    },
  }),
  route("POST /api/providers", {
    about: "Puts a provider in force. A key is kept encrypted, or read from a variable.",
    access,
    area,
    body: fields({
      name: text({ least: 1, most: 63 }),
      vendor: Type.Optional(text({ most: 63, about: "One of /api/vendors." })),
      base_url: Type.Optional(text({ most: 2_000 })),
      api_key: Type.Optional(text({ most: 20_000, about: "The key itself, or ${NAME}." })),
      allow_private: Type.Optional(Type.Boolean()),
      options: Type.Optional(Type.Record(Type.String(), text({ most: 20_000 }))),
    }),
    reply: Type.Object({ name: Type.String(), warnings: Type.Array(Type.String()) }),
    async handle({ operations }, { body }) {
      const { name, warnings } = await operations.providers.add(body);
      return { name, warnings: [...warnings] };
    },
  }),
  route("DELETE /api/providers/:name", {
    about: "Takes a provider out of force, with all routes to it.",
    access,
    area,
    query: fields({
      empties_models: Type.Optional(
        Type.Boolean({ description: "Also where models are left without a route by it." }),
      ),
    }),
    reply: Type.Object({
      name: Type.String(),
      routes: Type.Integer(),
      emptied: Type.Array(Type.String()),
    }),
    async handle({ operations }, { params, query }) {
      const { name, routes, emptied } = await operations.providers.remove({
        name: params.name,
        emptiesModels: query.empties_models === true,
      });
      return { name, routes, emptied: [...emptied] };
    },
  }),
  route("GET /api/providers/:name/trials", {
    about: "The calls that a test of a provider is made of, in order.",
    access,
    area,
    reply: Type.Array(Type.Object({ kind: oneOf(trialKinds), model: nullable(Type.String()) })),
    async handle({ operations }, { params }) {
      const trials = await operations.providers.planTrials({ name: params.name });
      return trials.map(({ kind, model }) => ({ kind, model }));
    },
  }),
  route("POST /api/providers/:name/test", {
    about: "Makes one real call of a kind, which the vendor bills, and says what is wrong.",
    access,
    area,
    body: fields({ kind: oneOf(trialKinds) }),
    reply: trial,
    async handle({ operations }, { params, body }) {
      const [made] = await operations.providers.test({ name: params.name, kind: body.kind });
      if (made === undefined)
        throw new Problem({
          code: "conflict",
          message: "The provider's routes have changed. Start the test again.",
        });
      return toTrial(made, await operations.manifest.isApplied({}));
    },
  }),
  route("GET /api/providers/:name/listing", {
    about: "The routes to a provider that name a model which its vendor does not list.",
    access,
    area,
    reply: Type.Object({
      models: nullable(
        Type.Integer({ description: "How many it lists. Null: no list to compare with." }),
      ),
      unlisted,
    }),
    async handle({ operations }, { params }) {
      const listing = await operations.providers.listing({ name: params.name });
      return { models: listing.models, unlisted: toUnlisted(listing.unlisted) };
    },
  }),
  route("POST /api/providers/:name/reset", {
    about: "Puts the targets of a provider back in service, all or one.",
    access,
    area,
    body: fields({ model: Type.Optional(text({ most: 200, about: "By the upstream's name." })) }),
    reply: Type.Object({ targets: Type.Integer() }),
    async handle({ operations }, { params, body }) {
      const { model } = body;
      const { targets } = await operations.providers.reset({
        name: params.name,
        ...(model === undefined ? {} : { model }),
      });
      return { targets };
    },
  }),
  route("GET /api/providers/:name/offer", {
    about: "The models that a provider offers and that could be served.",
    access,
    area,
    reply: offer,
    async handle({ operations }, { params }) {
      const { proposals, left_out, problem } = await operations.providers.offer({
        name: params.name,
      });
      return {
        proposals: proposals.map(({ id, upstream, endpoint, input, price, note }) => ({
          id,
          upstream,
          endpoint,
          input,
          price,
          // Where a command would set it, a page does.
          note: note?.replace(" (svc price set)", "") ?? null,
        })),
        left_out,
        problem: problem && forConsole(problem, await operations.manifest.isApplied({})),
      };
    },
  }),
  route("POST /api/providers/:name/models", {
    about: "Serves some of the models that a provider offers, by the names that were proposed.",
    access,
    area,
    body: fields({
      ids: Type.Array(text({ least: 1, most: 128 }), { minItems: 1, maxItems: 500 }),
    }),
    reply: Type.Object({ served: Type.Array(Type.String()), warnings: Type.Array(Type.String()) }),
    async handle({ operations }, { params, body }) {
      const { ids } = body;
      const made = await operations.providers.serve({ name: params.name, ids });
      return { served: [...made.served], warnings: [...made.warnings] };
    },
  }),
] as const;

function toReply(view: ProviderView) {
  return {
    name: view.name,
    kind: view.kind,
    vendor: view.vendor,
    base_url: view.base_url,
    allow_private: view.allow_private,
    api_key: view.api_key && toSecret(view.api_key),
    options: Object.entries(view.options).map(([name, value]) =>
      typeof value === "string"
        ? { name, value, secret: null }
        : { name, value: null, secret: toSecret(value) },
    ),
    models: view.models.map(({ id, upstream }) => ({ id, upstream: [...upstream] })),
    targets: (view.targets ?? []).map(({ model, state, reason, since, until, ...counts }) => ({
      model,
      state,
      reason,
      since,
      until,
      requests: counts.requests,
      failures: counts.failures,
    })),
  };
}

const toSecret = ({ from, variable, is_set }: SecretView) => ({ from, variable, is_set });

const toTrial = (
  { kind, model, ok, duration_ms, result, problem, unlisted: routes }: TrialView,
  hasFile: boolean,
) => ({
  kind,
  model,
  ok,
  duration_ms,
  result,
  problem: problem && forConsole(problem, hasFile),
  unlisted: toUnlisted(routes),
});

const toUnlisted = (routes: readonly UnlistedView[]) =>
  routes.map(({ model, upstream }) => ({ model, upstream }));

/** Where no file was ever applied, none is to be corrected: the page can do it. */
function forConsole(found: TroubleView, hasFile: boolean): TroubleView {
  if (hasFile) return found;
  const { trouble: kind, what, advice } = found;
  return {
    trouble: kind,
    what,
    advice: advice.replace(
      /(?: Correct| If| To change| Add)?[^.]*svc\.yaml and run svc apply svc\.yaml\./,
      " Remove the provider here and add it again with what is right.",
    ),
  };
}
