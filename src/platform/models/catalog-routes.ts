import { Type } from "typebox";
import { voices } from "../../call/speak.ts";
import { route } from "../context.ts";
import { fields, moment, nullable, oneOf, text } from "../http/schemas.ts";
import type { CatalogEntryView, RouteView } from "./operations.ts";

const prices = Type.Record(Type.String(), Type.String(), {
  description: "USD: a million tokens, an image, a second of video.",
});

const voiceMap = Type.Union([
  Type.Literal("same"),
  fields({
    Kore: text({ least: 1, most: 200 }),
    Puck: text({ least: 1, most: 200 }),
    Charon: text({ least: 1, most: 200 }),
    Fenrir: text({ least: 1, most: 200 }),
    Aoede: text({ least: 1, most: 200 }),
  } satisfies Record<(typeof voices)[number], unknown>),
]);

const routeReply = Type.Object({
  provider: Type.String(),
  model: Type.String({ description: "By the upstream's own name." }),
  priority: Type.Integer({ description: "The lowest is asked first." }),
  weight: Type.Integer({ description: "The share among those of one priority." }),
  voices: nullable(voiceMap),
  cost: nullable(prices),
  state: nullable(oneOf(["closed", "open", "half-open", "resting"])),
  usable: Type.Boolean(),
});

const entry = Type.Object({
  id: Type.String(),
  endpoint: oneOf(["chat", "embeddings", "speech"]),
  input: oneOf(["text", "media"]),
  owned_by: Type.String(),
  created_at: moment(),
  status: oneOf(["active", "deprecated", "retired"]),
  served: Type.Boolean(),
  not_served_because: nullable(Type.String()),
  price: nullable(prices),
  coming: Type.Array(Type.Object({ price: nullable(prices), effective_at: moment() })),
  classes: Type.Array(Type.Object({ name: Type.String(), needed: Type.Boolean() })),
  routes: Type.Array(routeReply),
  max_output_tokens: nullable(Type.Integer()),
  deprecated_at: nullable(moment()),
  retires_at: nullable(moment()),
  replacement: nullable(Type.String()),
});

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
  route("PUT /api/catalog/:model/routes", {
    about: "Replaces the routes of a model; costs and voices of those that stay are kept.",
    access,
    area,
    body: fields({
      routes: Type.Array(
        fields({
          provider: text({ least: 1, most: 63 }),
          model: text({ least: 1, most: 200 }),
          priority: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
          weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
          voices: Type.Optional(voiceMap),
        }),
        { maxItems: 50 },
      ),
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
    max_output_tokens: view.max_output_tokens,
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
  cost: view.cost,
  state: view.state,
  usable: view.usable,
});
