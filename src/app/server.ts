import { type Clock, systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { fillTextBounds } from "../call/text-bound.ts";
import type { Configuration } from "../config/load.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import type { PasswordCost } from "../people/passwords.ts";
import type { ApplyView } from "../platform/manifest/change.ts";
import type { Operations } from "../platform/operations.ts";
import type { Respond } from "../platform/server.ts";
import { openCertificate } from "./certificate.ts";
import { addEmbedded, superviseEngine } from "./engine.ts";
import { linkInProcess } from "./gateway-link.ts";
import { type GatewayParts, startGatewayRole } from "./gateway-role.ts";
import { whenTakenOver } from "./ledger.ts";
import { openLog } from "./log.ts";
import type { Opened } from "./opened.ts";
import { pageOrigins, startPlatformRole } from "./platform-role.ts";
import { applyAtStart, openStore, problemOf } from "./store.ts";
import { openTelemetry, type TelemetryOptions } from "./telemetry.ts";
import { closingMs, closingShare, Undo } from "./undo.ts";
import { logUpgrade } from "./upgrade.ts";
import { whenReachable } from "./when-reachable.ts";

export interface RunningServer {
  readonly gatewayUrl: string;
  readonly platformUrl: string;
  /** What the platform's listener answers with, for callers in this process. */
  readonly respondOnPlatform: Respond;
  readonly operations: Operations;
  readonly opened: Opened;
  readonly log: Log;
  /** The embedded models' keeper; absent when they are switched off. */
  readonly engine: EngineSupervisor | undefined;
  /** What the config file changed at this start, if it had changed. */
  readonly applied: ApplyView | undefined;
  /** No new requests; running ones may finish within the grace time. */
  stop(): Promise<void>;
  /** Resolves when what the start left to be done beside calls is done. */
  readonly prepared: Promise<void>;
  /** Resolves when another process has taken the database over and this server has stopped. */
  readonly takenOver: Promise<void>;
}

export interface ServerOptions extends GatewayParts {
  readonly configuration: Configuration;
  readonly version: string;
  readonly writeLog?: (line: string) => void;
  readonly clock?: Clock;
  /** How telemetry is collected into requests; tests do not wait for whole seconds. */
  readonly telemetryLimits?: TelemetryOptions["limits"];
  /** What hashing a password costs; tests that sign in often lower it. */
  readonly passwordCost?: PasswordCost;
  /** How often open pages hear of new calls; tests that listen lower it. */
  readonly liveEveryMs?: number;
  /** How the data directory is taken; tests of faults put a faulty disk between. */
  readonly open?: (configuration: Configuration) => Promise<Opened>;
}

function openEngine(parts: {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly log: Log;
  readonly undo: Undo;
}) {
  const { configuration, opened, log, undo } = parts;
  if (configuration.settings.engine !== "on") return undefined;
  const engine = superviseEngine(configuration, log);
  undo.push((withinMs) => engine.close(withinMs), closingShare(opened, "engine"));
  return engine;
}

const prepareTexts = (opened: Opened): Promise<void> =>
  fillTextBounds()
    .then(() => opened.store.releaseMemory())
    // The server may have been stopped meanwhile.
    .catch(() => {});

/**
 * The gateway and the platform in one process. Starts everything in the order in which it depends
 * on each other; undone when a part fails.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { configuration, version, passwordCost, liveEveryMs } = options;
  const { settings } = configuration;
  const { log, recent } = openLog(settings, {
    write: options.writeLog ?? ((line) => void process.stderr.write(line)),
  });
  const opened = await (options.open === undefined
    ? openStore(configuration, { kind: "server", onUpgrade: logUpgrade(log) })
    : options.open(configuration));
  const clock = options.clock ?? opened.shared?.clock ?? systemClock;
  const undo = new Undo();
  undo.push(opened.close, closingShare(opened, "store"));
  try {
    const common = { configuration, opened, version, log, recent, undo };
    const limits = options.telemetryLimits;
    const otlp = openTelemetry({ ...common, instance: settings.node, limits });
    const engine = openEngine({ configuration, opened, log, undo });
    const certificate = openCertificate({ configuration, log, undo });
    const shared = { ...common, engine, certificate, clock, otlp };
    const gateway = await startGatewayRole({ ...options, ...shared });
    const prepared = prepareTexts(opened);
    const link = linkInProcess(gateway, opened, clock);
    const platform = startPlatformRole({ ...shared, link, passwordCost, liveEveryMs });
    for (const origin of pageOrigins(settings, platform)) gateway.state.origins.add(origin);
    const { operations } = platform;
    // Only now: a start that finds its port taken must leave the store as it was.
    const applied = await whenReachable({ settings, log }, () =>
      applyAtStart({ configuration, opened, operations, log }),
    );
    // The file may have named other commands than the store.
    await gateway.state.whenKeysPrinted();
    if (engine !== undefined)
      await whenReachable({ settings, log }, () =>
        addEmbedded({ configuration, opened, follower: gateway.state.follower, clock }),
      );
    opened.lock.describe({ pid: process.pid, address: gateway.url });
    platform.openSocket();
    opened.started?.();
    let stopped: Promise<void> | undefined;
    const stopWithin = async (graceMs: number) => {
      engine?.expectEnd();
      const lateMs = await gateway.drain(graceMs);
      await undo.run(closingMs(settings.graceMs, lateMs));
    };
    const takenOver = whenTakenOver({
      ended: gateway.ended,
      isShared: opened.shared !== undefined,
      // What still runs can no longer be paid for: it ends at once.
      end: () => (stopped ??= stopWithin(0)),
      log,
    });
    return {
      gatewayUrl: gateway.publicUrl,
      platformUrl: platform.url,
      respondOnPlatform: platform.respond,
      operations,
      opened,
      log,
      engine,
      applied,
      prepared,
      takenOver,
      stop: () => (stopped ??= stopWithin(settings.graceMs)),
    };
  } catch (error) {
    await undo.run().catch(() => {});
    throw await problemOf(error, configuration);
  }
}
