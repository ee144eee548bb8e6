import type { Log } from "../base/log.ts";
import { startedBy } from "../base/network/listen.ts";
import { Problem } from "../base/problem.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import { openLog } from "./log.ts";
import type { ServerOptions } from "./server.ts";
import { warnOfExposure, warnOfMissingAccounts } from "./start-warnings.ts";
import { whenReachable } from "./when-reachable.ts";

export interface ServeOptions {
  /** Of the process, if absent. */
  readonly environment?: Configuration["environment"] | undefined;
  readonly version: string;
  /** The process, or what stands for it where several servers run in one. */
  readonly signals: NodeJS.EventEmitter;
  /** The process that forwards signals to this one; undefined if there is none. */
  readonly launcher?: number | undefined;
  /** Gateway processes; by the settings, if absent. */
  readonly workers?: number | undefined;
  readonly writeLog?: (line: string) => void;
  /** False where several servers share one process: its memory is then not theirs to free. */
  readonly ownsProcess?: boolean;
  /** What tests replace in a server. */
  readonly parts?: Pick<ServerOptions, "passwordCost" | "reportLimitMs" | "sharedCounter">;
}

const toStderr = (line: string) => void process.stderr.write(line);

/** Gateway and platform. Runs until a signal stops it. A second signal ends it at once. */
export async function serve(options: ServeOptions): Promise<void> {
  const { environment, version, writeLog = toStderr } = options;
  const configuration = loadConfiguration(environment);
  const workers = options.workers ?? configuration.settings.workers;
  if (workers > 1) checkShared(configuration, "Several workers need");
  // Throws if the named file does not exist, before the store is opened or created.
  void configuration.file;
  // Loaded here, so that the other commands start without it.
  const [{ completeFirstStart }, { printServing }] = await Promise.all([
    import("./first-start.ts"),
    import("../cli/welcome.ts"),
  ]);
  const output = { write: writeLog };
  const parts = { configuration, version, writeLog: (line: string) => output.write(line) };
  const server = await (workers > 1
    ? (await import("./supervisor.ts")).startSupervisor({ ...parts, workers })
    : startOne({ ...parts, ...options.parts }, options));
  // Before the first output, because a reader may stop us right after it.
  const stopped = stopOnSignal(server, options, configuration.settings.graceMs);
  const { settings } = configuration;
  const started = { settings, log: server.log };
  const first = await Promise.race([
    whenReachable(started, () => completeFirstStart(server, settings)).catch(endOf(server)),
    stopped,
  ]);
  if (first === undefined) return;
  warnOfExposure(settings, server.log, ["gateway", "platform"]);
  await warnOfMissingAccounts(settings, server.log, server.operations);
  const names = workers > 1 ? workerNames(configuration, workers) : undefined;
  const screen = await Promise.race([
    whenReachable(started, () =>
      printServing({ server, configuration, version, first, workers: names }),
    ),
    stopped,
  ]);
  if (screen === undefined) return;
  if (options.ownsProcess ?? true) void server.prepared.then(releaseStartMemory);
  output.write = (line) => screen.above(() => writeLog(line));
  const isTakenOver = await Promise.race([
    stopped.then(() => false),
    server.takenOver.then(() => true),
  ]);
  screen.end();
  if (isTakenOver) throw takenOver();
}

const workerNames = ({ settings }: Configuration, workers: number) =>
  Array.from({ length: workers }, (_, at) => `${settings.node}/${at + 1}`);

async function startOne(
  options: ServerOptions,
  { ownsProcess = true }: Pick<ServeOptions, "ownsProcess">,
) {
  const { startServer } = await import("./server.ts");
  // Of loading modules and compiling schemas: what comes next would lie scattered between it.
  if (ownsProcess) Bun.gc(true);
  return startServer(options);
}

/** A gateway alone, with its metrics on a port of their own. */
export async function serveGateway(options: ServeOptions): Promise<void> {
  const { environment, version, writeLog = toStderr } = options;
  const configuration = loadConfiguration(environment);
  checkShared(configuration, "svc gateway needs");
  const { log, recent } = openLog(configuration.settings, { write: writeLog });
  const [{ startLoneGateway }, { printGateway }] = await Promise.all([
    import("./lone-gateway.ts"),
    import("../cli/welcome.ts"),
  ]);
  const gateway = await startLoneGateway({ configuration, version, log, recent }).catch(
    startedBy("svc gateway"),
  );
  const stopped = stopOnSignal({ log, ...gateway }, options, configuration.settings.graceMs);
  warnOfExposure(configuration.settings, log, ["gateway"]);
  printGateway({ ...gateway, configuration, version });
  const isTakenOver = await Promise.race([
    stopped.then(() => false),
    gateway.takenOver.then(() => true),
  ]);
  if (isTakenOver) throw takenOver();
}

/** The platform alone. */
export async function servePlatform(options: ServeOptions): Promise<void> {
  const { environment, version, writeLog = toStderr } = options;
  const configuration = loadConfiguration(environment);
  checkShared(configuration, "svc platform needs");
  const { log, recent } = openLog(configuration.settings, { write: writeLog });
  const [{ startPlatformProcess }, { completeFirstStart }, { printPlatform }] = await Promise.all([
    import("./platform-process.ts"),
    import("./first-start.ts"),
    import("../cli/welcome.ts"),
  ]);
  const platform = await startPlatformProcess({ configuration, version, log, recent }).catch(
    startedBy("svc platform"),
  );
  const stopped = stopOnSignal({ log, ...platform }, options, configuration.settings.graceMs);
  const { settings } = configuration;
  const first = await Promise.race([
    whenReachable({ settings, log }, () => completeFirstStart(platform, settings)).catch(
      endOf(platform),
    ),
    stopped,
  ]);
  if (first === undefined) return;
  warnOfExposure(configuration.settings, log, ["platform"]);
  await warnOfMissingAccounts(configuration.settings, log, platform.operations);
  printPlatform({ url: platform.url, configuration, version, first });
  await stopped;
}

/** What fails right after the start must not leave a node behind that others wait for. */
const endOf = (server: { stop(): Promise<void> }) => async (error: unknown) => {
  await server.stop();
  throw error;
};

function checkShared({ settings }: Configuration, what: string): void {
  if (isPostgresUrl(settings.databaseUrl)) return;
  throw new Problem({
    code: "invalid",
    message: `${what} PostgreSQL, because SQLite serves one process: set SVC_DATABASE_URL to its address, such as postgres://host:5432/svc.`,
  });
}

const takenOver = () =>
  new Problem({
    code: "failed",
    message:
      "The server stopped because another process opened its database. Run only one server per database, and do not remove its lock files.",
  });

/**
 * What only the start needed: a tenth of all memory, most of it code that does not run again. What
 * does is compiled once more, so this is for a server that has not become fast yet.
 */
function releaseStartMemory(): void {
  Bun.gc(true);
  Bun.shrink();
}

function stopOnSignal(
  server: { readonly log: Log; stop(): Promise<void> },
  { signals, launcher }: Pick<ServeOptions, "signals" | "launcher">,
  graceMs: number,
): Promise<void> {
  signals.on("unhandledRejection", (reason) =>
    server.log.error("unhandled rejection", { detail: String(reason) }),
  );
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = () => {
      if (isStopping) return;
      isStopping = true;
      server.log.info("stopping; waiting for calls in flight to finish", {
        within_s: graceMs / 1000,
      });
      void server.stop().then(resolve, (error: unknown) => {
        server.log.error("stopping failed", { detail: String(error) });
        process.exit(1);
      });
    };
    let firstMs: number | undefined;
    const onSignal = () => {
      // Ctrl-C reaches us twice, from the terminal and through npm. That counts as one.
      if (firstMs !== undefined && Date.now() - firstMs > 500) process.exit(130);
      firstMs ??= Date.now();
      stop();
    };
    signals.on("SIGTERM", onSignal);
    signals.on("SIGINT", onSignal);
    if (launcher === undefined) return;
    // Only this one: that the shell or npm before it has ended is no reason to stop.
    const watch = setInterval(() => {
      if (process.ppid === launcher) return;
      clearInterval(watch);
      // No signal: it cuts off nothing while the server stops, and the next signal is the first.
      if (isStopping) return;
      server.log.warn("the process that started the server was killed", { pid: launcher });
      stop();
    }, launcherMs);
    watch.unref();
  });
}

const launcherMs = 500;
