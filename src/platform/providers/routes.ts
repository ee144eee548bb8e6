import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { operatorRoute } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import type { SavedProvider } from "./connect.ts";
import {
  listing,
  newProvider,
  offer,
  type ProviderView,
  plannedTrial,
  providerChanges,
  providerReply,
  removedProvider,
  savedProvider,
  trial,
  trialKind,
  vendor,
} from "./schemas.ts";

const route = operatorRoute("providers");

/** Whom the gateway calls. */
export const providerRoutes = [
  route("GET /api/providers", {
    about: "The providers, where their keys are, and how each of their targets is doing.",
    reply: Type.Object({
      providers: Type.Array(providerReply),
      has_file: Type.Boolean({ description: "Whether some of them are defined in a file." }),
    }),
    async handle({ operations }) {
      const providers = await operations.providers.list({});
      const hasFile = providers.some(({ source }) => source.kind === "file");
      return { providers: providers.map(toReply), has_file: hasFile };
    },
  }),
  route("GET /api/vendors", {
    about: "The vendors whose address and habits are known, and what each of them needs.",
    reply: Type.Array(vendor),
    handle: ({ operations }) => operations.providers.vendors({}),
  }),
  route("POST /api/providers", {
    about: "Puts a provider in force. A key is kept encrypted, or read from a variable.",
    body: newProvider,
    reply: savedProvider,
    handle: async ({ operations }, { body }) => toSaved(await operations.providers.add(body)),
  }),
  route("PATCH /api/providers/:name", {
    about: "Changes a provider or replaces its key. What is not named stays; null removes it.",
    body: providerChanges,
    reply: savedProvider,
    handle: async ({ operations }, { params, body }) =>
      toSaved(await operations.providers.update({ ...body, name: params.name })),
  }),
  route("DELETE /api/providers/:name", {
    about: "Takes a provider out of force, with all routes to it.",
    query: fields({
      empties_models: Type.Optional(
        Type.Boolean({ description: "Also where models are left without a route by it." }),
      ),
    }),
    reply: removedProvider,
    handle: ({ operations }, { params: { name }, query }) =>
      operations.providers.remove({ name, emptiesModels: query.empties_models }),
  }),
  route("GET /api/providers/:name/trials", {
    about: "The calls that a test of a provider is made of, in order.",
    reply: Type.Array(plannedTrial),
    handle: ({ operations }, { params: { name } }) => operations.providers.planTrials({ name }),
  }),
  route("POST /api/providers/:name/test", {
    about: "Makes one real call of a kind, which the vendor bills, and says what is wrong.",
    body: fields({ kind: trialKind }),
    reply: trial,
    async handle({ operations }, { params, body }) {
      const [made] = await operations.providers.test({ name: params.name, kind: body.kind });
      if (made !== undefined) return made;
      throw new Problem({
        code: "conflict",
        message: "Its routes have changed. Start the test again.",
      });
    },
  }),
  route("GET /api/providers/:name/listing", {
    about: "The routes to a provider that name a model which its vendor does not list.",
    reply: listing,
    handle: ({ operations }, { params: { name } }) => operations.providers.listing({ name }),
  }),
  route("POST /api/providers/:name/reset", {
    about: "Puts the targets of a provider back in service, all or one.",
    body: fields({ model: Type.Optional(text({ most: 200, about: "By the upstream's name." })) }),
    reply: Type.Object({ targets: Type.Integer() }),
    handle: ({ operations }, { params: { name }, body: { model } }) =>
      operations.providers.reset({ name, model }),
  }),
  route("GET /api/providers/:name/offer", {
    about: "The models that a provider offers and that could be served.",
    reply: offer,
    handle: ({ operations }, { params: { name } }) => operations.providers.offer({ name }),
  }),
  route("POST /api/providers/:name/models", {
    about: "Serves some of the models that a provider offers, by the names that were proposed.",
    body: fields({
      ids: Type.Array(text({ least: 1, most: 128 }), { minItems: 1, maxItems: 500 }),
    }),
    reply: Type.Object({ served: Type.Array(Type.String()), warnings: Type.Array(Type.String()) }),
    async handle({ operations }, { params: { name }, body: { ids } }) {
      const { served, warnings } = await operations.providers.serve({ name, ids });
      return { served, warnings: warnings.map(({ message }) => message) };
    },
  }),
] as const;

const toSaved = ({ name, warnings }: SavedProvider) => ({
  name,
  warnings: warnings.map(({ message }) => message),
});

const toReply = (view: ProviderView) => ({
  ...view,
  options: Object.entries(view.options).map(([name, value]) =>
    typeof value === "string"
      ? { name, value, secret: null }
      : { name, value: null, secret: value },
  ),
  targets: view.targets ?? [],
});
