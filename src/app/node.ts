import type { Log } from "../base/log.ts";
import { FleetNode } from "../fleet/node.ts";
import type { NodeLoad, TickReply } from "../fleet/store.ts";
import type { ActiveCalls } from "../gateway/active-calls.ts";
import type { DrainState } from "../gateway/draining.ts";
import type { GatewayServer } from "../gateway/server.ts";
import type { GatewayState } from "./gateway-state.ts";
import type { Money } from "./ledger.ts";
import type { SharedProcesses } from "./opened.ts";

export interface FollowOptions {
  readonly shared: SharedProcesses;
  readonly state: Pick<GatewayState, "follower">;
  readonly money: Pick<Money, "lender" | "writeSums" | "unwrittenSinceMs">;
  readonly calls: Pick<ActiveCalls, "size">;
  readonly log: Log;
}

export interface FollowedFleet {
  readonly node: FleetNode;
  /** Resolves when others have closed this node's epoch. */
  readonly closed: Promise<void>;
  /** From now on, a drain of this node closes this listener. */
  serve(server: DrainedServer): void;
}

type DrainedServer = Pick<GatewayServer, "setDraining" | "drain">;

/**
 * A gateway among several. Every tick renews its epoch and brings what is new: changes to read, money
 * that others wait for, whether it should take calls, and whether somebody looks at a report.
 */
export function followFleet({ shared, state, money, calls, log }: FollowOptions): FollowedFleet {
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  let server: DrainedServer | undefined;
  let isDraining = false;
  let reports: number | undefined;
  const onTick = async (reply: TickReply) => {
    isDraining = reply.isDraining;
    server?.setDraining(isDraining);
    if (!state.follower.isAt(reply)) await state.follower.catchUp();
    // Beside the tick: calls do not wait for it.
    money.lender?.tick(reply.recalls, server?.drain === "closed").catch(() => {});
    const isLookedAt = reply.reports !== reports;
    reports = reply.reports;
    if (isLookedAt)
      money
        .writeSums()
        .then(() => shared.fleet.reportsDone(reply.reports))
        .catch(() => {});
  };
  const node = new FleetNode({
    store: shared.fleet,
    load: loadOf({
      calls,
      drain: () => server?.drain ?? (isDraining ? "announced" : "none"),
      sumsToMs: () => money.unwrittenSinceMs() ?? shared.clock.nowMs(),
    }),
    seen: () => state.follower.seen,
    onTick,
    onClosed,
    clock: shared.clock,
    log,
  });
  return {
    node,
    closed,
    serve(listening) {
      server = listening;
      server.setDraining(isDraining, true);
    },
  };
}

function loadOf({
  calls,
  drain,
  sumsToMs,
}: {
  readonly calls: Pick<ActiveCalls, "size">;
  readonly drain: () => DrainState;
  readonly sumsToMs: () => number;
}): () => NodeLoad {
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
      isDraining: drain() !== "none",
      isListening: drain() !== "closed",
      sumsToMs: Math.floor(sumsToMs()),
    };
  };
}
