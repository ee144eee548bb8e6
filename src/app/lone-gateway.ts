import { systemClock } from "../base/clock.ts";
import { listenerUrl } from "../base/network/listen.ts";
import type { Configuration } from "../config/load.ts";
import { Tokens } from "../people/tokens.ts";
import { commandLine } from "../platform/audit/author.ts";
import { startControl } from "../platform/control-socket.ts";
import { startMetrics } from "../platform/metrics-page.ts";
import { forActor } from "../platform/operations.ts";
import { superviseEngine } from "./engine.ts";
import { linkInProcess } from "./gateway-link.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import type { ServerLog } from "./log.ts";
import { operationsOn } from "./store.ts";
import { closingShare } from "./undo.ts";

export interface LoneGateway extends Pick<GatewayProcess, "stop" | "takenOver"> {
  /** As callers see it; without /v1. */
  readonly gatewayUrl: string;
  readonly metricsUrl: string;
}

/** One gateway process, with its own engine, metrics and socket; the platform runs elsewhere. */
export async function startLoneGateway(
  options: ServerLog & { readonly configuration: Configuration; readonly version: string },
): Promise<LoneGateway> {
  const { configuration, version, log, recent } = options;
  const { settings } = configuration;
  const engine = settings.engine === "on" ? superviseEngine(configuration, log) : undefined;
  const gateway = await startGatewayProcess({
    configuration,
    user: { kind: "server" },
    version,
    log,
    recent,
    instance: settings.node,
    engine,
    sharesPort: false,
  });
  const { role, opened, undo, stop, takenOver } = gateway;
  try {
    const { platformHost: host, metricsPort, metricsAccess: access } = settings;
    const metrics = startMetrics({
      host,
      port: metricsPort,
      access,
      text: async () => role.metrics.text(),
      tokens: new Tokens(opened.store.people, systemClock),
    });
    undo.push(() => metrics.close());
    const link = linkInProcess(role, opened, systemClock);
    const { money, takeEffect } = link;
    const operations = operationsOn({
      configuration,
      opened,
      engine,
      money,
      takeEffect,
      recent,
      gateway: link.gateway,
    });
    const bound = forActor(operations, { actor: commandLine, clock: systemClock });
    const socket = startControl(settings.dataDir, bound);
    undo.push(() => socket.close(), closingShare(opened, "beside"));
    opened.started?.();
    const metricsUrl = `${listenerUrl(host, metrics.port)}/metrics`;
    return { gatewayUrl: role.publicUrl, metricsUrl, stop, takenOver };
  } catch (error) {
    await stop();
    throw error;
  }
}
