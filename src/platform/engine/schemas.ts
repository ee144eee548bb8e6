import { Type } from "../../base/json/type.ts";
import { nullable, oneOf, type View } from "../http/schemas.ts";

/** A set of weights on this machine, and its download progress. */
export const weightsReply = Type.Object({
  set: Type.String(),
  phase: oneOf(["absent", "waiting", "fetching", "preparing", "ready", "failed"]),
  done_bytes: Type.Integer(),
  total_bytes: Type.Integer(),
  problem: nullable(Type.String()),
  about: Type.String(),
  license: Type.String(),
  needed: Type.Boolean({ description: "Whether models in the catalog use this set." }),
});

export type WeightsView = View<typeof weightsReply>;

const running = {
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
};
const runningReply = Type.Object(running);
export type RunningEngineView = View<typeof runningReply>;

export const engineReply = Type.Object({ ...running, weights: Type.Array(weightsReply) });
