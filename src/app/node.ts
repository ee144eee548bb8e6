import type { Log } from "../base/log.ts";
import type { FleetStore, NodeLoad } from "../fleet/store.ts";
import type { GatewayRole } from "./gateway-role.ts";
import { whenTakenOver } from "./ledger.ts";
import type { Opened } from "./opened.ts";
import { Ticker } from "./ticker.ts";
import type { Undo } from "./undo.ts";

export interface NodeOptions {
  readonly fleet: Pick<FleetStore, "tick">;
  readonly role: GatewayRole;
  readonly log: Log;
  /** Called once when this node may charge nothing any more. */
  readonly onClosed: () => void;
  readonly everyMs?: number;
}

/**
 * A gateway among several. Every tick renews its epoch and brings what is new: changes to read,
 * whether it should take calls, and whether somebody looks at a report.
 */
export function startNode({ fleet, role, log, onClosed, ...rest }: NodeOptions): Ticker {
  const { state, money, server } = role;
  const load = loadOf(role);
  let sequence = -1;
  let reports: number | undefined;
  let isClosed = false;
  const work = async () => {
    if (isClosed) return;
    const reply = await fleet.tick(load());
    if (!reply.isOpen) {
      isClosed = true;
      return onClosed();
    }
    server.setDraining(reply.isDraining);
    if (reply.sequence !== sequence) {
      await state.follower.catchUp();
      sequence = reply.sequence;
    }
    const isLookedAt = reports !== undefined && reply.reports !== reports;
    reports = reply.reports;
    if (isLookedAt) await money.flushRollups();
  };
  return new Ticker({ work, what: "reach the other nodes", log, ...rest });
}

/**
 * Resolves when this gateway has ended because it may charge nothing any more: another process has
 * opened its database file, or its epoch was closed by others.
 */
export async function whenEnded(options: {
  readonly opened: Opened;
  readonly role: GatewayRole;
  readonly end: () => Promise<void>;
  readonly log: Log;
  readonly undo: Undo;
}): Promise<void> {
  const { opened, role, end, log, undo } = options;
  const { shared, store } = opened;
  if (shared === undefined) return whenTakenOver({ store, end, log });
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  const ticker = startNode({ fleet: shared.fleet, role, log, onClosed });
  undo.push(() => ticker.close());
  await Promise.race([closed, store.fenced]);
  log.error("this node was silent for too long and was closed; it stops and makes no more charges");
  await end().catch((error: unknown) => log.error("stopping failed", { detail: String(error) }));
}

function loadOf({ calls }: GatewayRole): () => NodeLoad {
  let before = process.cpuUsage();
  let beforeMs = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - beforeMs) / 1000;
    before = process.cpuUsage();
    beforeMs = performance.now();
    return {
      calls: calls.size,
      memoryMb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
      cpuMs: Math.round((user + system) / 1000 / Math.max(seconds, 0.001)),
    };
  };
}
