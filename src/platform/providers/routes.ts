import { Type } from "../../base/json/type.ts";
import { Problem } from "../../base/problem.ts";
import { operatorRoute } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import type { SavedProvider } from "./check.ts";
import {
  keyChanges,
  listing,
  newKey,
  newProvider,
  offer,
  type ProviderView,
  plannedTrial,
  providerChanges,
  providerReply,
  removedProvider,
  savedProvider,
  servedModels,
  servedReply,
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
    about:
      "Adds a provider after a test call. The key is stored encrypted, or read from a variable.",
    body: newProvider,
    reply: savedProvider,
    handle: async ({ operations }, { body }) => toSaved(await operations.providers.add(body)),
  }),
  route("PATCH /api/providers/:name", {
    about:
      "Changes a provider, replaces its key, or pauses it. A new key, address or option is tested first. Omitted fields stay; null removes a value.",
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
  route("POST /api/providers/:name/keys", {
    about: "Adds a key to a provider after a test call. Calls are spread over all keys by weight.",
    body: newKey,
    reply: savedProvider,
    handle: async ({ operations }, { params, body }) =>
      toSaved(await operations.providers.addKey({ ...body, provider: params.name })),
  }),
  route("PATCH /api/providers/:name/keys/:key", {
    about: "Replaces, renames, weights, pauses or resumes a key. A new key is tested first.",
    body: keyChanges,
    reply: savedProvider,
    handle: async ({ operations }, { params: { name: provider, key }, body }) =>
      toSaved(await operations.providers.updateKey({ ...body, provider, key })),
  }),
  route("DELETE /api/providers/:name/keys/:key", {
    about: "Removes a key from a provider.",
    reply: savedProvider,
    handle: async ({ operations }, { params: { name: provider, key } }) =>
      toSaved(await operations.providers.removeKey({ provider, key })),
  }),
  route("GET /api/providers/:name/trials", {
    about: "Lists the steps of a provider test, in order.",
    reply: Type.Array(plannedTrial),
    handle: ({ operations }, { params: { name } }) => operations.providers.planTrials({ name }),
  }),
  route("POST /api/providers/:name/test", {
    about:
      "Runs one step of a provider test as a real call, which the vendor bills, and reports problems.",
    body: fields({
      kind: trialKind,
      key: Type.Optional(
        text({ most: 63, about: "Name of the key, if the provider has several." }),
      ),
      run: Type.Optional(
        text({
          least: 1,
          most: 64,
          about:
            "Any id of your own, the same for all steps of one test. They are one audit entry.",
        }),
      ),
    }),
    reply: trial,
    async handle({ operations }, { params: { name }, body: { kind, key, run } }) {
      const [made] = await operations.providers.test({ name, kind, key, run });
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
    about:
      "Adds models that a provider offers, with their prices. Without a price the list price applies, which is also the cost of the route.",
    body: servedModels,
    reply: servedReply,
    async handle({ operations }, { params: { name }, body }) {
      const { warnings, ...rest } = await operations.providers.serve({ name, ...body });
      return { ...rest, warnings: warnings.map(({ message }) => message) };
    },
  }),
] as const;

const toSaved = ({ name, warnings, isTested }: SavedProvider) => ({
  name,
  tested: isTested,
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
