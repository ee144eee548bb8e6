import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { route } from "../context.ts";
import { fields, nullable, oneOf, text } from "../http/schemas.ts";
import type { SavedProvider } from "./connect.ts";
import {
  newProvider,
  offer,
  provider,
  providerChanges,
  savedProvider,
  trial,
  trialKinds,
  unlisted,
  vendor,
} from "./schemas.ts";
import type { ProviderView, SecretView, TrialView, UnlistedView } from "./views.ts";

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
        description: "Whether some of them are defined in a file.",
      }),
    }),
    async handle({ dependencies: { operations } }) {
      const providers = await operations.providers.list({});
      const hasFile = providers.some(({ source }) => source.kind === "file");
      return { providers: providers.map(toReply), has_file: hasFile };
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
    body: newProvider,
    reply: savedProvider,
    async handle({ operations }, { body }) {
      return toSaved(await operations.providers.add(body));
    },
  }),
  route("PATCH /api/providers/:name", {
    about: "Changes a provider or replaces its key. What is not named stays; null removes it.",
    access,
    area,
    body: providerChanges,
    reply: savedProvider,
    async handle({ operations }, { params, body }) {
      return toSaved(await operations.providers.update({ ...body, name: params.name }));
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
          message: "Its routes have changed. Start the test again.",
        });
      return toTrial(made);
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
        problem,
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
      return {
        served: [...made.served],
        warnings: made.warnings.map(({ message }) => message),
      };
    },
  }),
] as const;

const toSaved = ({ name, warnings }: SavedProvider) => ({
  name,
  warnings: warnings.map(({ message }) => message),
});

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
    source: view.source,
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

const toTrial = ({
  kind,
  model,
  ok,
  duration_ms,
  result,
  problem,
  unlisted: routes,
}: TrialView) => ({
  kind,
  model,
  ok,
  duration_ms,
  result,
  problem,
  unlisted: toUnlisted(routes),
});

const toUnlisted = (routes: readonly UnlistedView[]) =>
  routes.map(({ model, upstream }) => ({ model, upstream }));
