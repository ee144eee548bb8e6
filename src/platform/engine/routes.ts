import { Type } from "typebox";
import { route } from "../context.ts";
import { fields, nullable, oneOf, text } from "../http/schemas.ts";
import type { WeightsView } from "./operations.ts";

const weights = Type.Object({
  set: Type.String(),
  phase: oneOf(["absent", "waiting", "fetching", "preparing", "ready", "failed"]),
  done_bytes: Type.Integer(),
  total_bytes: Type.Integer(),
  problem: nullable(Type.String()),
  about: Type.String(),
  license: Type.String(),
  needed: Type.Boolean({ description: "Models of the catalogue are served by it." }),
});

const engine = Type.Object({
  state: Type.String({
    description: "off, unused, installing, starting, running or failed.",
  }),
  pid: nullable(Type.Integer()),
  problem: nullable(Type.String()),
  models: Type.Array(
    Type.Object({
      name: Type.String(),
      state: Type.String(),
      pid: nullable(Type.Integer()),
      active: Type.Integer(),
      waiting: Type.Integer(),
    }),
  ),
  weights: Type.Array(weights),
});

const access = "operator";
const area = "engine";

/** The embedded models. */
export const engineRoutes = [
  route("GET /api/engine", {
    about: "The process of the embedded models, what it runs, and how far their weights are.",
    access,
    area,
    reply: engine,
    async handle({ operations }) {
      const running = await operations.engine.show({});
      return {
        state: running?.state ?? "off",
        pid: running?.pid ?? null,
        problem: running?.problem ?? null,
        models: (running?.models ?? []).map(({ name, state, pid, active, waiting }) => ({
          name,
          state,
          pid,
          active,
          waiting,
        })),
        weights: (await operations.engine.weights({})).map(toWeights),
      };
    },
  }),
  route("POST /api/engine/pull", {
    about:
      "Begins to fetch weights that are missing: some sets, or all. GET /api/engine tells how far it is.",
    access,
    area,
    body: fields({ sets: Type.Optional(Type.Array(text({ most: 40 }), { maxItems: 20 })) }),
    reply: Type.Array(weights),
    async handle({ operations }, { body }) {
      const { sets } = body;
      const views = await operations.engine.pull(sets === undefined ? {} : { sets });
      return views.map(toWeights);
    },
  }),
] as const;

const toWeights = (view: WeightsView) => ({
  set: view.set,
  phase: view.phase,
  done_bytes: view.done_bytes,
  total_bytes: view.total_bytes,
  problem: view.problem,
  about: view.about,
  license: view.license,
  needed: view.needed,
});
