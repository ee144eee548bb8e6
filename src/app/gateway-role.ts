import { type Clock, elapsedMsOf, monotonicMs } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import { ownGatewayUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import { ActiveCalls } from "../gateway/active-calls.ts";
import type { Billing } from "../gateway/billing/billing.ts";
import type { RejectionLog } from "../gateway/failures.ts";
import type { GatewayServer } from "../gateway/server.ts";
import { type ApiVersion, v1 } from "../gateway/versions.ts";
import type { TokenCounter } from "../ledger/tokens/token-counter.ts";
import type { Lookup } from "../providers/kit/dial.ts";
import { watchSlowRequests } from "../telemetry/logs/slow-requests.ts";
import { Metrics } from "../telemetry/metrics.ts";
import type { Otlp } from "../telemetry/otlp/otlp.ts";
import { listenGateway } from "./gateway.ts";
import { type EngineAccess, type GatewayState, loadState } from "./gateway-state.ts";
import { checkLedger, type Money, openMoney } from "./ledger.ts";
import { followFleet } from "./node.ts";
import type { Opened } from "./opened.ts";
import { startRetention } from "./retention.ts";
import { reportTargets } from "./target-reporter.ts";
import { providerFinder } from "./telemetry.ts";
import { closingMs, closingShare, type Undo } from "./undo.ts";

/** What tests and the bench replace in a gateway. */
export interface GatewayParts {
  /** The versions of the API that the gateway serves. */
  readonly versions?: readonly ApiVersion[] | undefined;
  /** What admits and charges calls; the ledger by default. */
  readonly billing?: Billing | undefined;
  /** What keeps a record of refused calls; the bench puts one in its place that does nothing. */
  readonly rejections?: RejectionLog | undefined;
  /** Counts tokens; tests share one, because each loads a vocabulary for most of a second. */
  readonly sharedCounter?: TokenCounter | undefined;
  /** How long a report may take; tests on a slow machine wait longer. */
  readonly reportLimitMs?: number | undefined;
  /** How upstream names are resolved; default: by the operating system. */
  readonly lookup?: Lookup | undefined;
}

export interface GatewayRoleOptions extends GatewayParts {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly engine: EngineAccess | undefined;
  readonly version: string;
  /** Undefined where SVC_TLS_CERT is not set. */
  readonly certificate: ListenerCertificate | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where the operator has named no collector. */
  readonly otlp: Otlp | undefined;
  /** Gets what this opens. */
  readonly undo: Undo;
  /** Other processes of this machine listen on the same port. */
  readonly sharesPort?: boolean;
}

/** A process that serves calls: its state, its money and its listener. */
export interface GatewayRole {
  readonly state: GatewayState;
  readonly money: Money;
  readonly metrics: Metrics;
  readonly calls: ActiveCalls;
  readonly server: GatewayServer;
  /** For callers on this machine. */
  readonly url: string;
  /** As callers see it; without /v1. */
  readonly publicUrl: string;
  /** Resolves when this process may charge nothing any more. */
  readonly ended: Promise<void>;
  /** No new requests; running ones may finish within the time. Resolves to how late that was. */
  drain(withinMs: number): Promise<number>;
}

export async function startGatewayRole(options: GatewayRoleOptions): Promise<GatewayRole> {
  const { configuration, opened, engine, version, certificate, clock, log, otlp, undo, lookup } =
    options;
  const { settings } = configuration;
  await checkLedger(opened, log);
  opened.store.startUpkeep((detail) => log.error("database upkeep failed", { detail }));
  const money = await openMoney({
    store: opened.store,
    sharedCounter: options.sharedCounter,
    reportLimitMs: options.reportLimitMs,
    maxCallMs: settings.maxCallMs,
    shared: opened.shared,
    clock,
    log,
  });
  undo.push((withinMs) => money.close(withinMs), closingShare(opened, "money"));
  const retention = startRetention({ configuration, store: opened.store, clock, log });
  undo.push(() => retention.close(), closingShare(opened, "beside"));
  const state = await loadState({ configuration, opened, engine, money, lookup, clock, log, undo });
  if (otlp !== undefined) otlp.findProvider = providerFinder(state.catalog);
  const calls = new ActiveCalls(settings, elapsedMsOf(clock));
  const telemetry = otlp?.counts;
  const { router } = state;
  const sources = { ...money, losses: opened.shared?.node?.losses, telemetry, certificate };
  const metrics = new Metrics({ version, calls, router, ...sources });
  if (otlp !== undefined) otlp.writeMetrics = (to) => metrics.write(to);
  undo.push(async () => metrics.close());
  money.receiptWatchers.add(metrics.traffic.watch);
  if (settings.slowRequestMs > 0)
    money.receiptWatchers.add(watchSlowRequests({ leastMs: settings.slowRequestMs, log }));
  const follower =
    opened.shared && followFleet({ shared: opened.shared, state, money, calls, log });
  if (follower !== undefined) {
    await follower.node.start();
    undo.push(() => follower.node.stop(), closingShare(opened, "beside"));
    const write = opened.shared?.node?.writeTargets ?? (async () => {});
    const reporter = reportTargets({ health: () => state.router.health(), write, log });
    undo.push(() => reporter.close(), closingShare(opened, "beside"));
  }
  const server = listenGateway({
    configuration,
    opened,
    state,
    calls,
    versions: options.versions ?? [v1],
    billing: options.billing,
    rejections: options.rejections,
    money,
    metrics,
    sharesPort: options.sharesPort ?? false,
    certificate,
    gate: follower?.node,
    tracing: otlp?.tracer,
    clock,
    log,
  });
  undo.push(() => server.close(), closingShare(opened, "listener"));
  follower?.serve(server);
  const url = ownGatewayUrl(settings, server.port);
  return {
    state,
    money,
    metrics,
    calls,
    server,
    url,
    publicUrl: settings.publicUrl ?? url,
    ended: Promise.race([opened.store.fenced, ...(follower ? [follower.closed] : [])]),
    drain: drainOf({ server, calls, graceMs: opened.shared && settings.graceMs }),
  };
}

/** `graceMs` is undefined without a database server, which alone keeps calls from ending. */
function drainOf(of: {
  readonly server: Pick<GatewayServer, "stopAccepting">;
  readonly calls: ActiveCalls;
  readonly graceMs: number | undefined;
}): GatewayRole["drain"] {
  const { server, calls, graceMs } = of;
  return async (withinMs) => {
    const startMs = monotonicMs();
    await server.stopAccepting();
    await calls.drain(withinMs, graceMs === undefined ? undefined : closingMs(graceMs) / 2);
    return Math.max(0, monotonicMs() - startMs - withinMs);
  };
}
