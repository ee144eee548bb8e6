import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { createWiring } from "./app/command-line.ts";
import { serve, serveGateway, servePlatform } from "./app/serve.ts";
import { createLog } from "./base/log.ts";
import { socketPath } from "./base/network/listen.ts";
import { Problem } from "./base/problem.ts";
import { runCli } from "./cli/cli.ts";
import { print, printError } from "./cli/terminal/output.ts";
import { launcher } from "./config/launcher.ts";
import { loadConfiguration } from "./config/load.ts";
import { keepLoopbackDirect, wantsColour } from "./config/terminal.ts";
import { ensureEngineInstalled } from "./engine/install.ts";

const { version } = packageJson;
type Engine = typeof import("../engine/server/server.ts");

/** The engine's process, started by `serve` or by hand. */
async function runEngine(): Promise<void> {
  const { settings, engineModels, environment } = loadConfiguration();
  const { dataDir, cacheDir, engineIdleMs, engineQueue } = settings;
  const onLine = (line: string) => void process.stderr.write(`${line}\n`);
  const { sources } = await ensureEngineInstalled({ environment, cacheDir, onLine });
  // Loaded here, because a gateway without embedded models does not have its libraries.
  const { startEngine } = (await import(join(sources, "server", "server.ts"))) as Engine;
  const log = createLog({
    level: settings.logLevel,
    pretty: wantsColour(process.stderr),
    write: (line) => void process.stderr.write(line),
  });
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  process.on("SIGTERM", stop);
  process.on("disconnect", stop);
  // Ctrl-C reaches the whole process group, while the server still finishes its calls.
  process.on("SIGINT", process.send === undefined ? stop : () => {});
  const engine = await startEngine({
    socket: socketPath(dataDir, "engine.sock"),
    cacheDir,
    models: engineModels,
    idleMs: engineIdleMs,
    maxWaiting: engineQueue,
    log: {
      info: (line) => log.info(`engine: ${line}`),
      error: (line) => log.error(`engine: ${line}`),
    },
  }).catch((error: unknown) => {
    throw new Problem({
      code: "busy",
      message: error instanceof Error ? error.message : String(error),
      cause: error,
    });
  });
  if (process.send === undefined) print(`The engine listens on ${engine.socket}. Ctrl-C stops it.`);
  else process.send({ type: "listening" });
  await stopped;
  await engine.close();
}

keepLoopbackDirect();
const server = { version, signals: process, launcher };
const wiring = createWiring(undefined, {
  serve: (workers) => serve({ ...server, workers }),
  gateway: () => serveGateway(server),
  platform: () => servePlatform(server),
  engine: runEngine,
});
const failed = new Map<NodeJS.WriteStream, NodeJS.ErrnoException>();
// A full disk must not end a server, and a reader that has left is none of its business.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error) => failed.set(stream, error));
const words = process.argv.slice(2);
const exitCode = await runCli(words, wiring, version);
const isServer = ["serve", "gateway", "platform"].includes(words[0] ?? "");
await endOutput(process.stdout);
const error = failed.get(process.stdout);
const isLost = !isServer && error !== undefined && error.code !== "EPIPE";
if (isLost) printError(`Cannot write the output: ${error.message}.`);
await endOutput(process.stderr);
process.exit(exitCode === 0 && isLost ? 1 : exitCode);

/**
 * Waits until the last output has reached a pipe. An empty write would not wait for it. A server
 * does not wait for long: a log reader that is stuck must not keep it from stopping.
 */
function endOutput(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (failed.has(stream)) return resolve();
    if (isServer) setTimeout(resolve, 500);
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}
