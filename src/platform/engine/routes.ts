import { Type } from "../../base/json/type.ts";
import { operatorRoute } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { engineReply, weightsReply } from "./schemas.ts";

const route = operatorRoute("engine");

/** The embedded models. */
export const engineRoutes = [
  route("GET /api/engine", {
    about:
      "Shows the process of the embedded models, the loaded models and the download progress of their weights.",
    reply: engineReply,
    async handle({ operations }) {
      const running = await operations.engine.show({});
      const off = { state: "off", pid: null, problem: null, models: [] };
      return { ...(running ?? off), weights: await operations.engine.weights({}) };
    },
  }),
  route("POST /api/engine/pull", {
    about:
      "Starts to download missing weights: the given sets, or all. GET /api/engine shows the progress.",
    body: fields({ sets: Type.Optional(Type.Array(text({ most: 40 }), { maxItems: 20 })) }),
    reply: Type.Array(weightsReply),
    handle: ({ operations }, { body }) => operations.engine.pull(body),
  }),
] as const;
