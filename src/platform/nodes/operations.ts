import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { Problem } from "../../base/problem.ts";
import { type NodeView as FleetNode, type FleetStore, machineOf } from "../../fleet/store.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import type { ChangedNodesView, NodesView, NodeView } from "./schemas.ts";

export interface NodeOperations {
  /** Gateways that share the database; those that stopped over a day ago are left out. */
  list(input: Record<never, never>): Promise<NodesView>;
  /** Takes no new calls. Workers share a port: the name of their machine stands for all of them. */
  drain(input: { name: string }): Promise<ChangedNodesView>;
  resume(input: { name: string }): Promise<ChangedNodesView>;
}

export const nodeAudits = {
  list: null,
  drain: { action: "node.drain" },
  resume: { action: "node.resume" },
} satisfies Audits<NodeOperations>;

export interface NodeDependencies {
  /** Absent where one process uses the database alone. */
  readonly fleet?: Pick<FleetStore, "nodes" | "setDraining"> | undefined;
}

const shownMs = 86_400_000;

export const oneNode =
  "The database is SQLite, so one node runs. To run several, set SVC_DATABASE_URL to a PostgreSQL database.";

export function nodeOperations({
  fleet,
}: NodeDependencies): Unbound<NodeOperations, typeof nodeAudits> {
  const setDraining = async (name: string, isDraining: boolean, { audit }: Author) => {
    if (fleet === undefined) throw new Problem({ code: "conflict", message: oneNode });
    const found = await findNodes(fleet, name);
    refuseWorker(name, isDraining ? "drain" : "resume");
    const changed = found
      .filter((node) => node.isDraining !== isDraining)
      .map((node) => ({ name: node.name, audit: audit({ subject: node.name }) }));
    return { nodes: await fleet.setDraining(changed, isDraining) };
  };
  return {
    async list() {
      const all = (await fleet?.nodes()) ?? [];
      const shown = all.filter(({ state, unseenMs }) => state !== "stopped" || unseenMs < shownMs);
      return { is_shared: fleet !== undefined, nodes: shown.map(toNodeView) };
    },
    drain: ({ name }, author) => setDraining(name, true, author),
    resume: ({ name }, author) => setDraining(name, false, author),
  };
}

/**
 * The kernel goes on giving a worker its share of the new connections, and the runtime cannot stop
 * listening without a reset of some of them. So one that is drained alone would reject them.
 */
function refuseWorker(name: string, verb: "drain" | "resume"): void {
  const machine = machineOf(name);
  if (machine === name) return;
  throw new Problem({
    code: "conflict",
    message: `${name} shares its port with the other workers of ${machine}: ${verb} ${machine}, which stands for all of them.`,
    command: `nodes ${verb} ${machine}`,
  });
}

/** That one, or all workers of a machine. */
async function findNodes(
  fleet: Pick<FleetStore, "nodes">,
  name: string,
): Promise<readonly FleetNode[]> {
  const found = (await fleet.nodes()).filter(
    (node) => node.name === name || node.name.startsWith(`${name}/`),
  );
  if (found.length === 0)
    throw new Problem({
      code: "not_found",
      message: `Node "${name}" does not exist.`,
      command: "nodes",
    });
  const running = found.filter(({ state }) => state !== "stopped");
  if (running.length === 0)
    throw new Problem({
      code: "conflict",
      message: `Node "${name}" has stopped. It takes calls again when it starts.`,
      command: "nodes",
    });
  return running;
}

function toNodeView(node: FleetNode): NodeView {
  const { name, state, version, address, pid, startedAtMs, lastSeenMs, unseenMs, load } = node;
  const uptimeMs = lastSeenMs + unseenMs - startedAtMs;
  return {
    name,
    machine: machineOf(name),
    state,
    is_draining: node.isDraining,
    version,
    address,
    pid,
    started_at: toDateText(startedAtMs),
    last_seen_at: toDateText(lastSeenMs),
    unseen_s: Math.max(0, Math.floor(unseenMs / 1000)),
    uptime_s: state === "stopped" ? null : Math.max(0, Math.floor(uptimeMs / 1000)),
    load:
      load === undefined || state === "stopped"
        ? null
        : {
            calls: load.calls,
            memory_mb: Math.round(load.memoryMb),
            cpu_percent: Math.round(load.cpuMs / 10),
          },
    leases: node.leases,
    leased_usd: toUsd(node.leasedNano),
  };
}
