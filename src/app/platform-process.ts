import { systemClock } from "../base/clock.ts";
import { ownGatewayUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import type { Operations } from "../platform/operations.ts";
import { openCertificate } from "./certificate.ts";
import { linkAcrossProcesses } from "./gateway-link.ts";
import type { ServerLog } from "./log.ts";
import type { Opened } from "./opened.ts";
import { startPlatformRole } from "./platform-role.ts";
import { applyAtStart, openStore, problemOf } from "./store.ts";
import { openProcessTelemetry } from "./telemetry.ts";
import { closingMs, closingShare, Undo } from "./undo.ts";
import { logUpgrade } from "./upgrade.ts";
import { whenReachable } from "./when-reachable.ts";

export interface PlatformProcess {
  readonly url: string;
  readonly operations: Operations;
  readonly opened: Opened;
  stop(): Promise<void>;
}

/** The platform without a gateway in its process or on its machine. */
export async function startPlatformProcess(
  options: ServerLog & { readonly configuration: Configuration; readonly version: string },
): Promise<PlatformProcess> {
  const { configuration, version, log, recent } = options;
  const { settings } = configuration;
  const opened = await openStore(configuration, {
    kind: "platform",
    onUpgrade: logUpgrade(log),
  });
  const undo = new Undo();
  undo.push(opened.close, closingShare(opened, "store"));
  try {
    const instance = settings.node;
    const certificate = openCertificate({ configuration, log, undo });
    const { metrics, otlp } = openProcessTelemetry({
      opened,
      configuration,
      version,
      instance,
      certificate,
      log,
      recent,
      undo,
    });
    const clock = opened.shared?.clock ?? systemClock;
    const shared = { configuration, opened, certificate, clock, log, undo };
    const link = linkAcrossProcesses({
      ...shared,
      gatewayUrl: ownGatewayUrl(settings, settings.port),
      metricsText: async () => metrics.text(),
    });
    const platform = startPlatformRole({
      ...shared,
      link,
      engine: undefined,
      otlp,
      version,
      recent,
    });
    const { operations } = platform;
    await whenReachable({ settings, log }, () =>
      applyAtStart({ configuration, opened, operations, log }),
    );
    opened.lock.describe({ pid: process.pid, address: platform.url });
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= undo.run(closingMs(settings.graceMs)));
    return { url: platform.url, operations, opened, stop };
  } catch (error) {
    await undo.run().catch(() => {});
    throw await problemOf(error, configuration);
  }
}
