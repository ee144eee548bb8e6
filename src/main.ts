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
  // Loaded here: most commands do without it.
  withLedger: async (run) => (await import("./app/store.ts")).withLedger(loadConfiguration(), run),
  serve,
  engine: runEngine,
};

/** Runs until a signal asks it to stop; a second one ends it at once. */
async function serve(): Promise<void> {
  const configuration = loadConfiguration();
  // Reading it refuses a file that is named and not there: before the store is opened, or made.
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
  // Before the first word is printed: whoever reads it may stop us at once.
  const stopped = new Promise<void>((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      // A terminal's ctrl-c reaches us twice, directly and through npm: that is one wish.
      if (firstMs !== undefined && Date.now() - firstMs > 500) process.exit(130);
      if (firstMs !== undefined) return;
      firstMs = Date.now();
      server.log.info("stopping: running calls may finish", {
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
        "The server has stopped because another process opened its database. Run one server on a database, and leave its lock files alone.",
    });
}

/** The engine's process: started by `serve`, which it ends with, or by hand. */
async function runEngine(): Promise<void> {
  const { settings, engineModels, environment } = loadConfiguration();
  const { dataDir, cacheDir, engineIdleMs, engineQueue } = settings;
  const onLine = (line: string) => void process.stderr.write(`${line}\n`);
  await ensureEngineInstalled({ environment, onLine });
  // Loaded here: a gateway without embedded models has none of its libraries.
  const { startEngine } = await import("../engine/server/server.ts");
  const log = createLog({
    level: settings.logLevel,
    pretty: wantsColour(process.stderr),
    write: (line) => void process.stderr.write(line),
  });
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  process.on("SIGTERM", stop);
  process.on("disconnect", stop);
  // A terminal's ctrl-c reaches the whole group: the server still lets its calls finish.
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
  if (process.send === undefined) print(`The engine listens on ${engine.socket}. ctrl-c stops it.`);
  else process.send({ type: "listening" });
  await stopped;
  await engine.close();
}

keepLoopbackDirect();
const exitCode = await runCli(process.argv.slice(2), wiring, version);
// What was printed last may still be on its way into a pipe.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
process.exit(exitCode);
