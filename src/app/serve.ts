import { Problem } from "../base/problem.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import type { RunningServer } from "./server.ts";

export interface ServeOptions {
  /** Of the process, if absent. */
  readonly environment?: Configuration["environment"];
  readonly version: string;
  /** The process, or what stands for it where several servers run in one. */
  readonly signals: NodeJS.EventEmitter;
  readonly writeLog?: (line: string) => void;
}

/** Runs until a signal stops it. A second signal ends it at once. */
export async function serve({
  environment,
  version,
  signals,
  writeLog = (line) => void process.stderr.write(line),
}: ServeOptions): Promise<void> {
  const configuration = loadConfiguration(environment);
  // Throws if the named file does not exist, before the store is opened or created.
  void configuration.file;
  // Loaded here, so that the other commands start without it.
  const [{ startServer }, { completeFirstStart }, { printServing }] = await Promise.all([
    import("./server.ts"),
    import("./first-start.ts"),
    import("../cli/welcome.ts"),
  ]);
  // Of loading modules and compiling schemas: what comes next would lie scattered between it.
  Bun.gc(true);
  const output = { write: writeLog };
  const server = await startServer({
    configuration,
    version,
    writeLog: (line) => output.write(line),
  });
  signals.on("unhandledRejection", (reason) =>
    server.log.error("unhandled rejection", { detail: String(reason) }),
  );
  // Before the first output, because a reader may stop us right after it.
  const stopped = stopOnSignal(server, signals, configuration.settings.graceMs);
  const first = await completeFirstStart(server.operations, configuration.settings);
  const screen = await printServing({ server, configuration, version, first });
  void server.prepared.then(releaseStartMemory);
  output.write = (line) => screen.above(() => writeLog(line));
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

/**
 * What only the start needed: a tenth of all memory, most of it code that does not run again. What
 * does is compiled once more, so this is for a server that has not become fast yet.
 */
function releaseStartMemory(): void {
  Bun.gc(true);
  Bun.shrink();
}

function stopOnSignal(
  server: RunningServer,
  signals: NodeJS.EventEmitter,
  graceMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      // Ctrl-C reaches us twice, from the terminal and through npm. That counts as one.
      if (firstMs !== undefined && Date.now() - firstMs > 500) process.exit(130);
      if (firstMs !== undefined) return;
      firstMs = Date.now();
      server.log.info("stopping; waiting for calls in flight to finish", {
        within_s: graceMs / 1000,
      });
      void server.stop().then(resolve, (error: unknown) => {
        server.log.error("stopping failed", { detail: String(error) });
        process.exit(1);
      });
    };
    signals.on("SIGTERM", onSignal);
    signals.on("SIGINT", onSignal);
  });
}
