import { Type } from "typebox";
import { type PriceKey, priceKeys } from "../../call/price.ts";
import { route } from "../context.ts";
import { fields, moment, nullable, text } from "../http/schemas.ts";
import type { ImportView } from "./import.ts";
import type { PriceRow } from "./operations.ts";

const prices = Type.Record(Type.String(), Type.String(), {
  description: "USD: a million tokens, an image, a second of video.",
});

const row = Type.Object({
  model: Type.String(),
  version: nullable(Type.Integer({ description: "Null: it never had a price." })),
  price: nullable(prices),
  effective_at: nullable(moment("UTC; null for a first price, which holds from the start.")),
  in_force: Type.Boolean(),
});

const place = {
  model: Type.String(),
  route: nullable(Type.String({ description: "Whose cost it is; null: the model's own price." })),
};
const importReply = Type.Object({
  set: Type.Array(Type.Object({ ...place, price: prices, source: Type.String() })),
  left: Type.Array(Type.Object({ ...place, reason: Type.String() })),
  unknown: Type.Array(Type.Object({ ...place, reason: Type.String() })),
  notes: Type.Array(Type.Object({ ...place, note: Type.String() })),
  applied: Type.Boolean(),
});

const usd = Type.Optional(text({ most: 40 }));
const priceBody = fields(
  Object.fromEntries(priceKeys.map((key) => [key, usd])) as Record<PriceKey, typeof usd>,
);
const markup = Type.Optional(text({ most: 20, about: "Percent on top, such as 20 or 12.5." }));

const access = "operator";
const area = "prices";

/** What callers pay. */
export const priceRoutes = [
  route("GET /api/prices", {
    about: "The prices in force and those to come; with history, also those that were.",
    access,
    area,
    query: fields({
      model: Type.Optional(text({ most: 128 })),
      history: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Array(row),
    async handle({ operations }, { query }) {
      const rows = await operations.prices.list({
        history: query.history === true,
        ...(query.model === undefined ? {} : { model: query.model }),
      });
      return rows.map(toRow);
    },
  }),
  route("POST /api/prices", {
    about: "Sets the price of a model, now or from a day on. Classes that are not named have none.",
    access,
    area,
    body: fields({
      model: text({ least: 1, most: 128 }),
      price: priceBody,
      from: Type.Optional(text({ most: 40, about: "A day or a moment in UTC; now unless told." })),
    }),
    reply: row,
    async handle({ operations }, { body: { model, price, from } }) {
      const given = Object.entries(price).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      return toRow(
        await operations.prices.set({
          model,
          price: Object.fromEntries(given),
          ...(from === undefined || from === "" ? {} : { from }),
        }),
      );
    },
  }),
  route("GET /api/prices/import", {
    about: "What an import of public list prices would change; nothing is changed.",
    access,
    area,
    query: fields({ markup, replace: Type.Optional(Type.Boolean()) }),
    reply: importReply,
    async handle({ operations }, { query }) {
      return toImport(
        await operations.prices.import({
          dryRun: true,
          replace: query.replace === true,
          ...(query.markup === undefined ? {} : { markup: query.markup }),
        }),
      );
    },
  }),
  route("POST /api/prices/import", {
    about: "Takes public list prices over, with a markup for models and as they are for costs.",
    access,
    area,
    body: fields({ markup, replace: Type.Optional(Type.Boolean()) }),
    reply: importReply,
    async handle({ operations }, { body }) {
      return toImport(
        await operations.prices.import({
          dryRun: false,
          replace: body.replace === true,
          ...(body.markup === undefined ? {} : { markup: body.markup }),
        }),
      );
    },
  }),
] as const;

const toRow = ({ model, version, price, effective_at, in_force }: PriceRow) => ({
  model,
  version,
  price,
  effective_at,
  in_force,
});

function toImport(view: ImportView) {
  return {
    set: view.set.map((one) => ({
      model: one.model,
      route: one.route,
      price: one.price,
      source: one.source,
    })),
    left: view.left.map(toReason),
    unknown: view.unknown.map(toReason),
    notes: view.notes.map((one) => ({ model: one.model, route: one.route, note: one.note })),
    applied: view.applied,
  };
}

const toReason = (one: ImportView["left"][number]) => ({
  model: one.model,
  route: one.route,
  reason: one.reason,
});
