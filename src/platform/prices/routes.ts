import { Type } from "typebox";
import { operatorRoute } from "../context.ts";
import { fields, priceBody, text } from "../http/schemas.ts";
import { importReply, priceRow } from "./schemas.ts";

const route = operatorRoute("prices");

const importBody = fields({
  markup: Type.Optional(text({ most: 20, about: "Percent on top, such as 20 or 12.5." })),
  replace: Type.Optional(Type.Boolean()),
});

/** What callers pay. */
export const priceRoutes = [
  route("GET /api/prices", {
    about: "The prices in force and those to come; with history, also those that were.",
    query: fields({
      model: Type.Optional(text({ most: 128 })),
      history: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Array(priceRow),
    handle: ({ operations }, { query }) => operations.prices.list(query),
  }),
  route("POST /api/prices", {
    about: "Sets the price of a model, now or from a day on. Classes that are not named have none.",
    body: fields({
      model: text({ least: 1, most: 128 }),
      price: priceBody,
      from: Type.Optional(text({ most: 40, about: "A day or a moment in UTC. Default: now." })),
    }),
    reply: priceRow,
    handle({ operations }, { body: { model, price, from = "" } }) {
      const given = Object.entries(price).filter(([, value]) => value !== "");
      return operations.prices.set({
        model,
        price: Object.fromEntries(given),
        from: from === "" ? undefined : from,
      });
    },
  }),
  route("DELETE /api/prices/:model", {
    about: "Removes the price of a model from now on: it is not served until it has one again.",
    reply: priceRow,
    handle: ({ operations }, { params }) => operations.prices.remove(params),
  }),
  route("GET /api/prices/import", {
    about: "What an import of public list prices would change; nothing is changed.",
    query: importBody,
    reply: importReply,
    handle: ({ operations }, { query }) => operations.prices.import({ ...query, dryRun: true }),
  }),
  route("POST /api/prices/import", {
    about: "Takes public list prices over, with a markup for models and as they are for costs.",
    body: importBody,
    reply: importReply,
    handle: ({ operations }, { body }) => operations.prices.import({ ...body, dryRun: false }),
  }),
] as const;
