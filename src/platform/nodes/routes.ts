import { operatorRoute } from "../context.ts";
import { changedNodesReply, nodesReply } from "./schemas.ts";

const route = operatorRoute("settings");

/** The gateways that share the database. */
export const nodeRoutes = [
  route("GET /api/nodes", {
    about: "Lists the gateways that share the database with their state, load and borrowed money.",
    reply: nodesReply,
    handle: ({ operations }) => operations.nodes.list({}),
  }),
  route("POST /api/nodes/:name/drain", {
    about:
      "Drains a machine with all of its workers: its `/readyz` fails and its replies end their connections, after `SVC_DRAIN_S` seconds it closes its port, and it finishes its calls. It takes new ones when it is resumed or restarted. The name of a single worker is refused, because workers share a port.",
    reply: changedNodesReply,
    handle: ({ operations }, { params }) => operations.nodes.drain(params),
  }),
  route("POST /api/nodes/:name/resume", {
    about: "Lets a drained machine with all of its workers take calls again.",
    reply: changedNodesReply,
    handle: ({ operations }, { params }) => operations.nodes.resume(params),
  }),
] as const;
