import { Type } from "typebox";
import { type PriceKey, priceKeys } from "../../call/price.ts";
import { route } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { importReply, priceRow } from "./schemas.ts";

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
    reply: Type.Array(priceRow),
    async handle({ operations }, { query }) {
      const rows = await operations.prices.list({
        history: query.history === true,
        ...(query.model === undefined ? {} : { model: query.model }),
      });
      return rows;
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
    reply: priceRow,
    async handle({ operations }, { body: { model, price, from } }) {
      const given = Object.entries(price).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      return operations.prices.set({
        model,
        price: Object.fromEntries(given),
        ...(from === undefined || from === "" ? {} : { from }),
      });
    },
  }),
  route("GET /api/prices/import", {
    about: "What an import of public list prices would change; nothing is changed.",
    access,
    area,
    query: fields({ markup, replace: Type.Optional(Type.Boolean()) }),
    reply: importReply,
    async handle({ operations }, { query }) {
      return operations.prices.import({
        dryRun: true,
        replace: query.replace === true,
        ...(query.markup === undefined ? {} : { markup: query.markup }),
      });
    },
  }),
  route("POST /api/prices/import", {
    about: "Takes public list prices over, with a markup for models and as they are for costs.",
    access,
    area,
    body: fields({ markup, replace: Type.Optional(Type.Boolean()) }),
    reply: importReply,
    async handle({ operations }, { body }) {
      return operations.prices.import({
        dryRun: false,
        replace: body.replace === true,
        ...(body.markup === undefined ? {} : { markup: body.markup }),
      });
    },
  }),
] as const;
