import { Type } from "typebox";
import { route } from "../context.ts";
import { fields, nullable, oneOf, text } from "../http/schemas.ts";
import type { CatalogEntryView, RouteView } from "./operations.ts";
import { entry, modelChanges, newModel, routeBody } from "./schemas.ts";

const caller = Type.Object({
  account: Type.String(),
  account_name: nullable(Type.String()),
  key: nullable(Type.String({ description: "Null: temporary keys of the account." })),
  key_name: nullable(Type.String()),
  receipts: Type.Integer(),
  last_day: Type.String(),
});

const access = "operator";
const area = "catalog";
const when = (about: string) =>
  text({ least: 1, most: 40, about: `${about} A day or a moment in UTC.` });

/** The models as the operator keeps them. */
export const catalogRoutes = [
  route("GET /api/catalog", {
    about: "All models with their routes, prices and lifecycle, and why one is not served.",
    access,
    area,
    reply: Type.Array(entry),
    async handle({ operations }) {
      return (await operations.catalog.list({})).map(toEntry);
    },
  }),
  route("GET /api/catalog/:model", {
    about: "One model with its routes, price and lifecycle.",
    access,
    area,
    reply: entry,
    async handle({ operations }, { params }) {
      return toEntry(await operations.catalog.show({ id: params.model }));
    },
  }),
  route("POST /api/catalog", {
    about: "Creates a model; it is served once it has a route and a price.",
    access,
    area,
    body: newModel,
    reply: entry,
    async handle({ operations }, { body }) {
      return toEntry(await operations.catalog.create(body));
    },
  }),
  route("PATCH /api/catalog/:model", {
    about: "Changes a model. What is not named stays; null removes it.",
    access,
    area,
    body: modelChanges,
    reply: entry,
    async handle({ operations }, { params, body }) {
      return toEntry(await operations.catalog.update({ ...body, id: params.model }));
    },
  }),
  route("PUT /api/catalog/:model/routes", {
    about: "Replaces the routes of a model; what is known of those that stay is kept.",
    access,
    area,
    body: fields({
      routes: Type.Array(routeBody, { maxItems: 50 }),
    }),
    reply: entry,
    async handle({ operations }, { params, body }) {
      const { routes } = body;
      return toEntry(await operations.catalog.setRoutes({ id: params.model, routes }));
    },
  }),
  route("POST /api/catalog/:model/deprecate", {
    about:
      "Deprecates a model, now or from a day on: callers are told the day and what to use instead.",
    access,
    area,
    body: fields({
      from: Type.Optional(when("Now unless told.")),
      retires: when("From then on it is refused."),
      replacement: text({ least: 1, most: 128, about: "An active model of the same endpoint." }),
    }),
    reply: entry,
    async handle({ operations }, { params, body }) {
      const { from, retires, replacement } = body;
      const { id } = await operations.models.deprecate({
        id: params.model,
        retires,
        replacement,
        ...(from === undefined ? {} : { from }),
      });
      return toEntry(await operations.catalog.show({ id }));
    },
  }),
  route("POST /api/catalog/:model/retire", {
    about: "Retires a deprecated model now: calls to it are refused from then on.",
    access,
    area,
    reply: entry,
    async handle({ operations }, { params }) {
      const { id } = await operations.models.retire({ id: params.model });
      return toEntry(await operations.catalog.show({ id }));
    },
  }),
  route("GET /api/models/:model/callers", {
    about: "Who has called a model since it was deprecated; who called last stands first.",
    access,
    area,
    reply: Type.Object({
      model: Type.String(),
      status: oneOf(["active", "deprecated", "retired"]),
      receipts: Type.Integer(),
      callers: Type.Array(caller),
    }),
    async handle({ operations }, { params }) {
      const [found] = await operations.models.callers({ model: params.model });
      return {
        model: params.model,
        status: found?.status ?? "active",
        receipts: found?.receipts ?? 0,
        callers: (found?.callers ?? []).map((one) => ({
          account: one.account,
          account_name: one.account_name,
          key: one.key,
          key_name: one.key_name,
          receipts: one.receipts,
          last_day: one.last_day,
        })),
      };
    },
  }),
] as const;

function toEntry(view: CatalogEntryView) {
  return {
    id: view.id,
    endpoint: view.endpoint,
    input: view.input,
    owned_by: view.owned_by,
    created_at: view.created_at,
    status: view.status,
    served: view.served,
    not_served_because: view.not_served_because,
    price: view.price,
    coming: view.coming.map(({ price, effective_at }) => ({ price, effective_at })),
    classes: view.classes.map(({ name, needed }) => ({ name, needed })),
    routes: view.routes.map(toRoute),
    context_length: view.context_length,
    max_output_tokens: view.max_output_tokens,
    max_image_tokens: view.max_image_tokens,
    max_audio_seconds: view.max_audio_seconds,
    timeouts: view.timeouts,
    source: view.source,
    deprecated_at: view.deprecated_at,
    retires_at: view.retires_at,
    replacement: view.replacement,
  };
}

const toRoute = (view: RouteView) => ({
  provider: view.provider,
  model: view.model,
  priority: view.priority,
  weight: view.weight,
  voices: view.voices,
  dimensions: view.dimensions,
  cost: view.cost,
  cost_in_file: view.cost_in_file,
  state: view.state,
  usable: view.usable,
});
