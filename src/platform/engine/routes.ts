import { Type } from "typebox";
import { operatorRoute } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { engineReply, weightsReply } from "./schemas.ts";

const route = operatorRoute("engine");

/** The embedded models. */
export const engineRoutes = [
  route("GET /api/engine", {
    about: "The process of the embedded models, what it runs, and how far their weights are.",
    reply: engineReply,
    async handle({ operations }) {
      const running = await operations.engine.show({});
      const off = { state: "off", pid: null, problem: null, models: [] };
      return { ...(running ?? off), weights: await operations.engine.weights({}) };
    },
  }),
  route("POST /api/engine/pull", {
    about:
      "Begins to fetch weights that are missing: some sets, or all. GET /api/engine tells how far it is.",
    body: fields({ sets: Type.Optional(Type.Array(text({ most: 40 }), { maxItems: 20 })) }),
    reply: Type.Array(weightsReply),
    handle: ({ operations }, { body }) => operations.engine.pull(body),
  }),
] as const;
