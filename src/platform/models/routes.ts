import { Type } from "../../base/json/type.ts";
import { unknownModel } from "../../catalog/catalog.ts";
import { operatorRoute, route } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import {
  callableModel,
  callersReply,
  entry,
  modelChanges,
  newModel,
  removedModel,
  routeBody,
} from "./schemas.ts";

const catalogRoute = operatorRoute("catalog");
const when = (about: string) => text({ least: 1, most: 40, about: `${about} Day or time in UTC.` });

export const modelRoutes = [
  route("GET /api/accounts/:account/models", {
    about: "Lists the available models with price and lifecycle.",
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
    about:
      "Lists all models with routes, prices and lifecycle, and the reason if a model is not served.",
    reply: Type.Array(entry),
    handle: ({ operations }) => operations.catalog.list({}),
  }),
  catalogRoute("GET /api/catalog/:model", {
    about: "Shows a model with its routes, price and lifecycle.",
    reply: entry,
    handle: ({ operations }, { params }) => operations.catalog.show({ id: params.model }),
  }),
  catalogRoute("POST /api/catalog", {
    about: "Creates a model. It is served once it has a route and a price.",
    body: newModel,
    reply: entry,
    handle: ({ operations }, { body }) => operations.catalog.create(body),
  }),
  catalogRoute("PATCH /api/catalog/:model", {
    about: "Changes a model. Omitted fields stay; null removes a value.",
    body: modelChanges,
    reply: entry,
    handle: ({ operations }, { params, body }) =>
      operations.catalog.update({ ...body, id: params.model }),
  }),
  catalogRoute("PUT /api/catalog/:model/routes", {
    about: "Replaces the routes of a model. Routes that stay keep their other properties.",
    body: fields({ routes: Type.Array(routeBody, { maxItems: 50 }) }),
    reply: entry,
    handle: ({ operations }, { params, body }) =>
      operations.catalog.setRoutes({ ...body, id: params.model }),
  }),
  catalogRoute("POST /api/catalog/:model/rename", {
    about:
      "Renames a model that was never called. Keys limited to the model can use it under its new id.",
    body: fields({
      id: text({ least: 1, most: 128, about: "The new id." }),
      keep_alias: Type.Optional(
        Type.Boolean({ description: "Whether the old id stays as an alias. Default: false." }),
      ),
    }),
    reply: entry,
    handle: ({ operations }, { params, body: { id, keep_alias: keepAlias } }) =>
      operations.catalog.rename({ id: params.model, to: id, keepAlias }),
  }),
  catalogRoute("DELETE /api/catalog/:model", {
    about: "Deletes a model that was never called.",
    reply: removedModel,
    handle: ({ operations }, { params }) => operations.catalog.remove({ id: params.model }),
  }),
  catalogRoute("POST /api/catalog/:model/deprecate", {
    about:
      "Deprecates a model, now or from a date. Callers see the retirement date and the replacement.",
    body: fields({
      from: Type.Optional(when("Default: now.")),
      retires: when("Calls are rejected from this date."),
      replacement: text({ least: 1, most: 128, about: "An active model of the same endpoint." }),
    }),
    reply: entry,
    async handle({ operations }, { params, body }) {
      const { id } = await operations.models.deprecate({ ...body, id: params.model });
      return operations.catalog.show({ id });
    },
  }),
  catalogRoute("POST /api/catalog/:model/retire", {
    about: "Retires a deprecated model now. Calls to it are rejected.",
    reply: entry,
    async handle({ operations }, { params }) {
      const { id } = await operations.models.retire({ id: params.model });
      return operations.catalog.show({ id });
    },
  }),
  catalogRoute("GET /api/models/:model/callers", {
    about: "Lists the callers of a model since its deprecation, most recent first.",
    reply: callersReply,
    async handle({ operations }, { params: { model } }) {
      const [found] = await operations.models.callers({ model });
      if (found === undefined) throw unknownModel(model);
      return found;
    },
  }),
] as const;
