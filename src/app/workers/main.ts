import packageJson from "../../../package.json" with { type: "json" };
import { Problem } from "../../base/problem.ts";
import { loadConfiguration } from "../../config/load.ts";
import { keepLoopbackDirect } from "../../config/terminal.ts";
import { startGatewayProcess } from "../gateway-process.ts";
import { openLog } from "../log.ts";
import { type ChannelProcess, engineOverChannel, openChannel } from "./channel.ts";
import { sendLog } from "./log-channel.ts";

/**
 * A gateway process that `svc serve --workers` starts: its number is the only argument. It ends
 * with its supervisor, however that ends, because the channel between them breaks.
 */
keepLoopbackDirect();
const worker = Number(process.argv[2]);
const configuration = loadConfiguration();
const { settings } = configuration;
const { log, recent } = openLog(settings, {
  write: (line) => void process.stderr.write(line),
  fields: { worker: `${settings.node}/${worker}` },
});
const channel = process as ChannelProcess;
const sentLog = sendLog(channel, recent);
const { promise: stopping, resolve: stop } = Promise.withResolvers<void>();
process.on("SIGTERM", stop);
process.on("disconnect", stop);
// Ctrl-C reaches the whole process group; the supervisor decides what follows.
process.on("SIGINT", () => {});
process.on("unhandledRejection", (reason) =>
  log.error("unhandled rejection", { detail: String(reason) }),
);
// A log reader that has left is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  const gateway = await startGatewayProcess({
    configuration,
    user: { kind: "worker", worker },
    version: packageJson.version,
    log,
    recent,
    instance: `${settings.node}/${worker}`,
    engine: settings.engine === "on" ? engineOverChannel(channel) : undefined,
    sharesPort: true,
  });
  const { role } = gateway;
  gateway.opened.started?.();
  const open = openChannel({
    process: channel,
    metricsText: () => role.metrics.text(),
    pending: () => role.server.pending,
    endConnections: (count) => role.server.endConnections(count),
  });
  const isTakenOver = await Promise.race([
    stopping.then(() => false),
    gateway.takenOver.then(() => true),
  ]);
  await gateway.stop();
  open.close();
  sentLog.flush();
  process.exit(isTakenOver ? 1 : 0);
} catch (error) {
  log.error("worker failed", {
    reason: error instanceof Problem ? error.message : String(error),
  });
  sentLog.flush();
  process.exit(1);
}
