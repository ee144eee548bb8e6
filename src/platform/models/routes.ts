import { Type } from "typebox";
import { operatorRoute, route } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import {
  callableModel,
  callersReply,
  entry,
  modelChanges,
  newModel,
  routeBody,
} from "./schemas.ts";

const catalogRoute = operatorRoute("catalog");
const when = (about: string) =>
  text({ least: 1, most: 40, about: `${about} A day or a moment in UTC.` });

export const modelRoutes = [
  route("GET /api/accounts/:account/models", {
    about: "The models that can be called, with their price and how long they stay.",
    access: "viewer",
    area: "models",
    reply: Type.Array(callableModel),
    async handle({ operations, account }) {
      const models = await operations.models.list({});
      const keys = await operations.keys.list({ account: account.id });
      const active = keys.filter(({ status }) => status === "active");
      return models
        .filter(({ served, status }) => served || status === "retired")
        .map((model) => ({
          ...model,
          keys: active
            .filter(({ models: allowed }) => allowed === null || allowed.includes(model.id))
            .map(({ id, name, hint }) => ({ id, name: name === "" ? hint : name })),
        }));
    },
  }),
  catalogRoute("GET /api/catalog", {
    about: "All models with their routes, prices and lifecycle, and why one is not served.",
    reply: Type.Array(entry),
    handle: ({ operations }) => operations.catalog.list({}),
  }),
  catalogRoute("GET /api/catalog/:model", {
    about: "One model with its routes, price and lifecycle.",
    reply: entry,
    handle: ({ operations }, { params }) => operations.catalog.show({ id: params.model }),
  }),
  catalogRoute("POST /api/catalog", {
    about: "Creates a model; it is served once it has a route and a price.",
    body: newModel,
    reply: entry,
    handle: ({ operations }, { body }) => operations.catalog.create(body),
  }),
  catalogRoute("PATCH /api/catalog/:model", {
    about: "Changes a model. What is not named stays; null removes it.",
    body: modelChanges,
    reply: entry,
    handle: ({ operations }, { params, body }) =>
      operations.catalog.update({ ...body, id: params.model }),
  }),
  catalogRoute("PUT /api/catalog/:model/routes", {
    about: "Replaces the routes of a model; what is known of those that stay is kept.",
    body: fields({ routes: Type.Array(routeBody, { maxItems: 50 }) }),
    reply: entry,
    handle: ({ operations }, { params, body }) =>
      operations.catalog.setRoutes({ ...body, id: params.model }),
  }),
  catalogRoute("POST /api/catalog/:model/deprecate", {
    about:
      "Deprecates a model, now or from a day on: callers are told the day and what to use instead.",
    body: fields({
      from: Type.Optional(when("Default: now.")),
      retires: when("From then on it is refused."),
      replacement: text({ least: 1, most: 128, about: "An active model of the same endpoint." }),
    }),
    reply: entry,
    async handle({ operations }, { params, body }) {
      const { id } = await operations.models.deprecate({ ...body, id: params.model });
      return operations.catalog.show({ id });
    },
  }),
  catalogRoute("POST /api/catalog/:model/retire", {
    about: "Retires a deprecated model now: calls to it are refused from then on.",
    reply: entry,
    async handle({ operations }, { params }) {
      const { id } = await operations.models.retire({ id: params.model });
      return operations.catalog.show({ id });
    },
  }),
  catalogRoute("GET /api/models/:model/callers", {
    about: "Who has called a model since it was deprecated; who called last stands first.",
    reply: callersReply,
    async handle({ operations }, { params: { model } }) {
      const [found] = await operations.models.callers({ model });
      return found ?? { model, status: "active" as const, receipts: 0, callers: [] };
    },
  }),
] as const;
