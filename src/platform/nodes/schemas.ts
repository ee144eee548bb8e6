import { Type } from "../../base/json/type.ts";
import { moment, nullable, oneOf, usd, type View } from "../http/schemas.ts";

export const nodeReply = Type.Object({
  name: Type.String({ description: "Workers of one machine are `NAME/1`, `NAME/2`, …." }),
  machine: Type.String({ description: "The name that drains and resumes it, without `/1`." }),
  state: oneOf(["running", "draining", "drained", "silent", "stopped"], {
    description:
      "`draining`: serves calls until it closes its port, and finishes those in flight. `drained`: its port is closed and no call is in flight, so it can be stopped. `silent`: has not reached the database for 2 seconds.",
  }),
  is_draining: Type.Boolean({ description: "Takes no new calls; also shown while it is silent." }),
  version: Type.String(),
  address: Type.String({ description: "Where its gateway listens." }),
  pid: Type.Integer(),
  started_at: moment("UTC, by the clock of the database."),
  last_seen_at: moment("UTC, by the clock of the database."),
  unseen_s: Type.Integer({ description: "Seconds since it was last seen." }),
  uptime_s: nullable(Type.Integer({ description: "Seconds since its start; null: stopped." })),
  load: nullable(
    Type.Object({
      calls: Type.Integer({ description: "Calls in flight." }),
      memory_mb: Type.Integer(),
      cpu_percent: Type.Integer({ description: "Of one core." }),
    }),
  ),
  leases: Type.Integer({ description: "Accounts of which it has borrowed money." }),
  leased_usd: usd("Money it has borrowed and not charged."),
});
export type NodeView = View<typeof nodeReply>;

export const nodesReply = Type.Object({
  is_shared: Type.Boolean({
    description: "False: the database is SQLite, which one process uses alone.",
  }),
  nodes: Type.Array(nodeReply),
});
export type NodesView = View<typeof nodesReply>;

export const changedNodesReply = Type.Object({
  nodes: Type.Array(Type.String(), { description: "Names of the nodes that were changed." }),
});
export type ChangedNodesView = View<typeof changedNodesReply>;
