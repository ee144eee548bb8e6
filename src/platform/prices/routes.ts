import { Type } from "../../base/json/type.ts";
import { operatorRoute } from "../context.ts";
import { fields, priceBody, text } from "../http/schemas.ts";
import { bulkBody, bulkReply, importReply, priceRow } from "./schemas.ts";

const route = operatorRoute("prices");

const importBody = fields({
  markup: Type.Optional(text({ most: 20, about: "Percentage to add, for example 20 or 12.5." })),
  replace: Type.Optional(Type.Boolean()),
});

/** What callers pay. */
export const priceRoutes = [
  route("GET /api/prices", {
    about: "Lists current and scheduled prices, optionally with the history.",
    query: fields({
      model: Type.Optional(text({ most: 128 })),
      history: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Array(priceRow),
    handle: ({ operations }, { query }) => operations.prices.list(query),
  }),
  route("POST /api/prices", {
    about: "Sets the price of a model, now or from a date. Omitted classes have no price.",
    body: fields({
      model: text({ least: 1, most: 128 }),
      price: priceBody,
      from: Type.Optional(text({ most: 40, about: "Day or time in UTC. Default: now." })),
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
  route("POST /api/prices/bulk", {
    about:
      "Sets one price, one price per endpoint, a markup on the list price or no charge for many models, in one change. `dry_run` shows the result without saving it.",
    body: bulkBody,
    reply: bulkReply,
    handle: ({ operations }, { body }) => operations.prices.setMany(body),
  }),
  route("DELETE /api/prices/:model", {
    about: "Removes the price of a model now. The model is not served until it has a price again.",
    reply: priceRow,
    handle: ({ operations }, { params }) => operations.prices.remove(params),
  }),
  route("GET /api/prices/import", {
    about: "Shows what an import of public list prices would change, without changing anything.",
    query: importBody,
    reply: importReply,
    handle: ({ operations }, { query }) => operations.prices.import({ ...query, dryRun: true }),
  }),
  route("POST /api/prices/import", {
    about: "Imports public list prices: with a markup as model prices, unchanged as route costs.",
    body: importBody,
    reply: importReply,
    handle: ({ operations }, { body }) => operations.prices.import({ ...body, dryRun: false }),
  }),
] as const;
