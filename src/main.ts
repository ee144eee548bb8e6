import packageJson from "../package.json" with { type: "json" };
import { withOperations } from "./app/command-line.ts";
import { createLog } from "./base/log.ts";
import { socketPath } from "./base/network/listen.ts";
import { Problem } from "./base/problem.ts";
import { runCli } from "./cli/cli.ts";
import type { Wiring } from "./cli/command.ts";
import { print } from "./cli/terminal/output.ts";
import { loadConfiguration } from "./config/load.ts";
import { keepLoopbackDirect, wantsColour } from "./config/terminal.ts";
import { ensureEngineInstalled } from "./engine/install.ts";

const { version } = packageJson;

const wiring: Wiring = {
  configuration: () => loadConfiguration(),
  withOperations: (run) => withOperations(loadConfiguration(), run),
  // Loaded here, because most commands do not need it.
  withLedger: async (run) => (await import("./app/store.ts")).withLedger(loadConfiguration(), run),
  serve,
  engine: runEngine,
};

/** Runs until a signal stops it. A second signal ends it at once. */
async function serve(): Promise<void> {
  const configuration = loadConfiguration();
  // Throws if the named file does not exist, before the store is opened or created.
  void configuration.file;
  // Loaded here, so that the other commands start without it.
  const [{ startServer }, { completeFirstStart }, { printServing }] = await Promise.all([
    import("./app/server.ts"),
    import("./app/first-start.ts"),
    import("./cli/welcome.ts"),
  ]);
  const output: { write: (line: string) => void } = {
    write: (line) => void process.stderr.write(line),
  };
  const server = await startServer({
    configuration,
    version,
    writeLog: (line) => output.write(line),
  });
  process.on("unhandledRejection", (reason) =>
    server.log.error("unhandled rejection", { detail: String(reason) }),
  );
  // Before the first output, because a reader may stop us right after it.
  const stopped = new Promise<void>((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      // Ctrl-C reaches us twice, from the terminal and through npm. That counts as one.
      if (firstMs !== undefined && Date.now() - firstMs > 500) process.exit(130);
      if (firstMs !== undefined) return;
      firstMs = Date.now();
      server.log.info("stopping; calls in flight may finish", {
        within_s: configuration.settings.graceMs / 1000,
      });
      void server.stop().then(resolve, (error: unknown) => {
        server.log.error("stopping failed", { detail: String(error) });
        process.exit(1);
      });
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  const first = await completeFirstStart(server.operations, configuration.settings);
  const screen = await printServing({ server, configuration, version, first });
  output.write = (line) =>
    screen.above(() => {
      process.stderr.write(line);
    });
  const isTakenOver = await Promise.race([
    stopped.then(() => false),
    server.takenOver.then(() => true),
  ]);
  screen.end();
  if (isTakenOver)
    throw new Problem({
      code: "failed",
      message:
        "The server stopped because another process opened its database. Run only one server per database, and do not remove its lock files.",
    });
}

/** The engine's process, started by `serve` or by hand. */
async function runEngine(): Promise<void> {
  const { settings, engineModels, environment } = loadConfiguration();
  const { dataDir, cacheDir, engineIdleMs, engineQueue } = settings;
  const onLine = (line: string) => void process.stderr.write(`${line}\n`);
  await ensureEngineInstalled({ environment, onLine });
  // Loaded here, because a gateway without embedded models does not have its libraries.
  const { startEngine } = await import("../engine/server/server.ts");
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
const exitCode = await runCli(process.argv.slice(2), wiring, version);
// Waits until the last output has reached a pipe.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
process.exit(exitCode);
