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
    about: "Lists the providers with the source of their keys and the health of their targets.",
    reply: Type.Object({
      providers: Type.Array(providerReply),
      has_file: Type.Boolean({ description: "Whether a file defines any of them." }),
    }),
    async handle({ operations }) {
      const providers = await operations.providers.list({});
      const hasFile = providers.some(({ source }) => source.kind === "file");
      return { providers: providers.map(toReply), has_file: hasFile };
    },
  }),
  route("GET /api/vendors", {
    about: "Lists the known vendors and what each of them requires.",
    reply: Type.Array(vendor),
    handle: ({ operations }) => operations.providers.vendors({}),
  }),
  route("POST /api/providers", {
    about: "Adds a provider. The key is stored encrypted, or read from a variable.",
    body: newProvider,
    reply: savedProvider,
    handle: async ({ operations }, { body }) => toSaved(await operations.providers.add(body)),
  }),
  route("PATCH /api/providers/:name", {
    about: "Changes a provider or replaces its key. Omitted fields stay; null removes a value.",
    body: providerChanges,
    reply: savedProvider,
    handle: async ({ operations }, { params, body }) =>
      toSaved(await operations.providers.update({ ...body, name: params.name })),
  }),
  route("DELETE /api/providers/:name", {
    about: "Removes a provider and all routes to it.",
    query: fields({
      empties_models: Type.Optional(
        Type.Boolean({
          description: "Whether to remove it even if this leaves models without a route.",
        }),
      ),
    }),
    reply: removedProvider,
    handle: ({ operations }, { params: { name }, query }) =>
      operations.providers.remove({ name, emptiesModels: query.empties_models }),
  }),
  route("GET /api/providers/:name/trials", {
    about: "Lists the steps of a provider test, in order.",
    reply: Type.Array(plannedTrial),
    handle: ({ operations }, { params: { name } }) => operations.providers.planTrials({ name }),
  }),
  route("POST /api/providers/:name/test", {
    about:
      "Runs one step of a provider test as a real call, which the vendor bills, and reports problems.",
    body: fields({ kind: trialKind }),
    reply: trial,
    async handle({ operations }, { params, body }) {
      const [made] = await operations.providers.test({ name: params.name, kind: body.kind });
      if (made !== undefined) return made;
      throw new Problem({
        code: "conflict",
        message: "The routes of this provider have changed. Start the test again.",
      });
    },
  }),
  route("GET /api/providers/:name/listing", {
    about: "Lists routes to models that the vendor does not list.",
    reply: listing,
    handle: ({ operations }, { params: { name } }) => operations.providers.listing({ name }),
  }),
  route("POST /api/providers/:name/reset", {
    about: "Puts all targets of a provider, or one, back in service.",
    body: fields({
      model: Type.Optional(text({ most: 200, about: "Model name at the provider." })),
    }),
    reply: Type.Object({ targets: Type.Integer() }),
    handle: ({ operations }, { params: { name }, body: { model } }) =>
      operations.providers.reset({ name, model }),
  }),
  route("GET /api/providers/:name/offer", {
    about: "Lists the models of a provider that can be added.",
    reply: offer,
    handle: ({ operations }, { params: { name } }) => operations.providers.offer({ name }),
  }),
  route("POST /api/providers/:name/models", {
    about: "Adds some of the models that a provider offers, under the proposed names.",
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
