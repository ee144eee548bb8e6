import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Clock, monotonicMs, systemClock } from "../base/clock.ts";
import { toApiError } from "../base/errors.ts";
import { FeedFollower } from "../base/feed.ts";
import type { Log } from "../base/log.ts";
import { freePort } from "../base/network/listener.ts";
import { CallSignal } from "../call/signal.ts";
import { Catalog } from "../catalog/catalog.ts";
import { ownGatewayUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import type { RecentLog } from "../telemetry/logs/recent-log.ts";
import { openCertificate } from "./certificate.ts";
import { addEmbedded, engineModelsOf, superviseEngine } from "./engine.ts";
import { linkAcrossProcesses } from "./gateway-link.ts";
import { openLog } from "./log.ts";
import type { Opened } from "./opened.ts";
import { startPlatformRole } from "./platform-role.ts";
import type { RunningServer } from "./server.ts";
import { applyAtStart, openStore, problemOf, routeCheck } from "./store.ts";
import { openProcessTelemetry } from "./telemetry.ts";
import { Ticker } from "./ticker.ts";
import { closingMs, closingShare, Undo } from "./undo.ts";
import { logUpgrade } from "./upgrade.ts";
import { whenReachable } from "./when-reachable.ts";
import type { EngineRefusal } from "./workers/messages.ts";
import { WorkerPool } from "./workers/pool.ts";

export interface SupervisorOptions {
  readonly configuration: Configuration;
  readonly version: string;
  readonly workers: number;
  readonly writeLog: (line: string) => void;
}

const workerMain = join(import.meta.dir, "workers", "main.ts");

/**
 * Several gateway processes on one port, and in this process what a machine has once: the platform,
 * the engine, the control socket and the metrics of all.
 */
export async function startSupervisor(options: SupervisorOptions): Promise<RunningServer> {
  const { configuration, version, workers, writeLog } = options;
  const { settings } = configuration;
  const { log, recent } = openLog(settings, { write: writeLog });
  warnOfMachine(workers, log);
  const opened = await openStore(configuration, {
    kind: "supervisor",
    onUpgrade: logUpgrade(log),
  });
  const undo = new Undo();
  undo.push(opened.close, closingShare(opened, "store"));
  try {
    const instance = settings.node;
    const certificate = openCertificate({ configuration, log, undo });
    const own = { configuration, version, certificate, log, recent, undo };
    const { metrics, otlp } = openProcessTelemetry({ ...own, opened, instance });
    const port = freePort({ host: settings.host, port: settings.port, setting: "SVC_PORT" });
    const engine = settings.engine === "on" ? superviseEngine(configuration, log) : undefined;
    if (engine !== undefined)
      undo.push((withinMs) => engine.close(withinMs), closingShare(opened, "engine"));
    const pool = createPool({ configuration, workers, port, engine, log, recent });
    undo.push(() => pool.stop());
    // A second signal ends this process at once, and the workers with it.
    process.once("exit", (code) => (code === 130 ? pool.kill() : undefined));
    const gatewayUrl = ownGatewayUrl(settings, port);
    const clock = opened.shared?.clock ?? systemClock;
    const shared = { configuration, opened, clock, log, undo };
    const link = linkAcrossProcesses({
      ...shared,
      gatewayUrl,
      metricsText: () => pool.metricsText({ process: instance, text: metrics.text() }),
    });
    const platform = startPlatformRole({ ...shared, ...own, link, engine, otlp });
    const { operations } = platform;
    const applied = await whenReachable({ settings, log }, () =>
      applyAtStart({ configuration, opened, operations, log }),
    );
    if (engine !== undefined) await followCatalog({ ...shared, engine });
    await pool.start();
    opened.lock.describe({ pid: process.pid, address: gatewayUrl });
    platform.openSocket();
    let stopped: Promise<void> | undefined;
    const stopAll = async () => {
      engine?.expectEnd();
      const startMs = monotonicMs();
      // The console stays until the last call has ended.
      await pool.stop();
      const lateMs = monotonicMs() - startMs - settings.graceMs;
      await undo.run(closingMs(settings.graceMs, Math.max(0, lateMs)));
    };
    const stop = () => (stopped ??= stopAll());
    return {
      gatewayUrl: link.publicUrl,
      platformUrl: platform.url,
      respondOnPlatform: platform.respond,
      operations,
      opened,
      log,
      engine,
      applied,
      stop,
      prepared: Promise.resolve(),
      // The workers charge calls; one that may not any more ends and is started again.
      takenOver: new Promise(() => {}),
    };
  } catch (error) {
    await undo.run().catch(() => {});
    throw await problemOf(error, configuration);
  }
}

function warnOfMachine(workers: number, log: Log): void {
  if (process.platform !== "linux")
    log.warn(
      "only Linux spreads connections over workers; here one of them may get them all, so run one svc gateway per port behind a proxy instead",
    );
  const cores = availableParallelism();
  if (workers > cores) log.warn("there are more workers than cores", { workers, cores });
}

function createPool(options: {
  readonly configuration: Configuration;
  readonly workers: number;
  readonly port: number;
  readonly engine: EngineSupervisor | undefined;
  readonly log: Log;
  readonly recent: RecentLog;
}): WorkerPool {
  const { configuration, workers, port, engine, log, recent } = options;
  const { settings, environment } = configuration;
  return new WorkerPool({
    count: workers,
    command: (worker) => [process.execPath, "--no-env-file", workerMain, String(worker)],
    nameOf: (worker) => `${settings.node}/${worker}`,
    environment: { ...environment, SVC_PORT: String(port) },
    graceMs: settings.graceMs,
    log,
    onLog: (records) => recent.addOthers(records),
    askEngine: (model) => askEngine(engine, model),
  });
}

async function askEngine(
  engine: EngineSupervisor | undefined,
  model: string,
): Promise<EngineRefusal | undefined> {
  try {
    await engine?.whenReady(model, new CallSignal());
    return undefined;
  } catch (error) {
    const { code, message, detail, retryAfterMs } = toApiError(error);
    return { code, message, detail, retryAfterMs };
  }
}

/** The engine runs here, so this process also follows which models it has to serve. */
async function followCatalog(options: {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly engine: EngineSupervisor;
  readonly clock: Clock;
  readonly log: Log;
  readonly undo: Undo;
}): Promise<void> {
  const { configuration, opened, engine, log, undo } = options;
  const catalog = new Catalog(opened.store.catalog, routeCheck(configuration));
  const reload = async () => {
    await catalog.reload();
    engine.need(engineModelsOf(catalog));
  };
  const follower = new FeedFollower(opened.store.feed, {
    changed: async (changes) =>
      changes.some(({ topic }) => topic === "catalog") ? reload() : undefined,
    reloadAll: reload,
  });
  await follower.start();
  await addEmbedded({ ...options, follower });
  const ticker = new Ticker({ work: () => follower.catchUp(), what: "follow changes", log });
  undo.push(() => ticker.close(), closingShare(opened, "beside"));
}
