import { systemClock } from "../base/clock.ts";
import { fillTextBounds } from "../call/text-bound.ts";
import type { Configuration } from "../config/load.ts";
import { openCertificate } from "./certificate.ts";
import { type GatewayRole, startGatewayRole } from "./gateway-role.ts";
import type { EngineAccess } from "./gateway-state.ts";
import { whenTakenOver } from "./ledger.ts";
import type { ServerLog } from "./log.ts";
import type { Opened, StoreUser } from "./opened.ts";
import { pageOrigins } from "./platform-role.ts";
import { warnOfOpenSecret } from "./secret.ts";
import { openStore, platformAddress, problemOf } from "./store.ts";
import { openTelemetry } from "./telemetry.ts";
import { closingMs, closingShare, Undo } from "./undo.ts";
import { logUpgrade } from "./upgrade.ts";

export interface GatewayProcessOptions extends ServerLog {
  readonly configuration: Configuration;
  readonly user: StoreUser;
  readonly version: string;
  /** Its name among the processes that send telemetry. */
  readonly instance: string;
  /** Absent when the embedded models are switched off; closed with the gateway, if it can be. */
  readonly engine: (EngineAccess & { expectEnd?(): void; close?(): Promise<void> }) | undefined;
  readonly sharesPort: boolean;
}

/** A gateway without a platform in its process. */
export interface GatewayProcess {
  readonly role: GatewayRole;
  readonly opened: Opened;
  /** No new requests; running ones may finish within the grace time. */
  stop(): Promise<void>;
  /** Resolves when this process may charge nothing any more, and has stopped. */
  readonly takenOver: Promise<void>;
  /** Closed at the end, before the gateway. */
  readonly undo: Undo;
}

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { configuration, user, version, log, recent, instance, engine, sharesPort } = options;
  const { settings } = configuration;
  const opened = await openStore(configuration, { ...user, onUpgrade: logUpgrade(log) });
  // The supervisor of a worker has said it.
  if (user.kind === "server") warnOfOpenSecret(settings, log);
  const undo = new Undo();
  undo.push(opened.close, closingShare(opened, "store"));
  try {
    const otlp = openTelemetry({ configuration, opened, version, instance, log, recent, undo });
    undo.push(async () => engine?.close?.(), closingShare(opened, "engine"));
    const role = await startGatewayRole({
      configuration,
      opened,
      engine,
      version,
      certificate: openCertificate({ configuration, log, undo }),
      clock: opened.shared?.clock ?? systemClock,
      log,
      otlp,
      undo,
      sharesPort,
    });
    const platform = { url: platformAddress(configuration), port: settings.platformPort };
    for (const origin of pageOrigins(settings, platform)) role.state.origins.add(origin);
    opened.lock.describe({ pid: process.pid, address: role.url });
    void fillTextBounds()
      .then(() => opened.store.releaseMemory())
      // The server may have been stopped meanwhile.
      .catch(() => {});
    let stopped: Promise<void> | undefined;
    const stopWithin = async (graceMs: number) => {
      engine?.expectEnd?.();
      const lateMs = await role.drain(graceMs);
      await undo.run(closingMs(settings.graceMs, lateMs));
    };
    // What still runs can no longer be paid for: it ends at once.
    const end = () => (stopped ??= stopWithin(0));
    const takenOver = whenTakenOver({
      ended: role.ended,
      isShared: opened.shared !== undefined,
      end,
      log,
    });
    const stop = () => (stopped ??= stopWithin(settings.graceMs));
    return { role, opened, undo, stop, takenOver };
  } catch (error) {
    await undo.run().catch(() => {});
    throw await problemOf(error, configuration);
  }
}
