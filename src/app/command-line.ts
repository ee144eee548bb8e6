import { mkdtempSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../base/problem.ts";
import type { StoreOptions, Wiring } from "../cli/command.ts";
import { NoDatabase } from "../cli/store-wiring.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import { connectControl } from "../platform/control-socket.ts";
import type { Operations } from "../platform/operations.ts";

/** Other commands hold the data directory only briefly, so this waits for them. */
const lockTries = 30;
const lockPauseMs = 100;

/** What commands get from us: all of it by the settings of this environment, or of the process. */
export function createWiring(
  environment: Configuration["environment"] | undefined,
  processes: Pick<Wiring, "serve" | "gateway" | "platform" | "engine">,
): Wiring {
  return {
    ...processes,
    configuration: () => loadConfiguration(environment),
    withOperations: (run, options) => withOperations(loadConfiguration(environment), run, options),
    // Loaded here: most commands do without it.
    withLedger: async (run) =>
      (await import("./store.ts")).withLedger(loadConfiguration(environment), run),
    examine: async (request) =>
      (await import("./doctor/doctor.ts")).examine(() => loadConfiguration(environment), request),
    migrate: async (options) =>
      (await import("./schema.ts")).migrateStore(loadConfiguration(environment), options),
    copyStore: async (request) =>
      (await import("./copy.ts")).copyStore(loadConfiguration(environment), request),
    backup: async (request) => {
      stepBack(environment);
      const { backupStore } = await import("./backup/backup.ts");
      return backupStore(loadConfiguration(environment), request);
    },
    verifyBackup: async (request) => (await import("./backup/restore.ts")).verifyBackup(request),
    restore: async (request) =>
      (await import("./backup/restore.ts")).restoreStore(loadConfiguration(environment), request),
    cancelCopy: async () => (await import("./copy.ts")).cancelCopy(loadConfiguration(environment)),
  };
}

/** A process of its own leaves the processor to the gateway. */
function stepBack(environment: Configuration["environment"] | undefined): void {
  if (environment !== undefined) return;
  try {
    setPriority(10);
  } catch {
    // It runs at the usual priority.
  }
}

/**
 * With PostgreSQL, every command uses the database itself. A socket serves what only a process can
 * answer: its address, its embedded models, and the calls that it has just served.
 */
async function withShared<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
  options?: StoreOptions,
): Promise<T> {
  const running = await connectControl(configuration.settings.dataDir);
  const work = (operations: Operations) => {
    if (running === undefined) return run(operations);
    const { engine, gateway, calls, logs } = running.operations;
    return run({
      ...operations,
      engine,
      gateway,
      logs,
      calls: { ...operations.calls, news: (input) => calls.news(input) },
    });
  };
  return withOwnStore(configuration, work, options);
}

/**
 * Uses the running server. If there is none, opens the store for the duration of the command. The
 * store is loaded only then, so a command with a running server starts in a third of the time.
 */
async function withOperations<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
  options?: StoreOptions,
): Promise<T> {
  if (isPostgresUrl(configuration.settings.databaseUrl))
    return withShared(configuration, run, options);
  for (let tries = 1; ; tries++) {
    const running = await connectControl(configuration.settings.dataDir);
    if (running !== undefined) return run(running.operations);
    try {
      return await withOwnStore(configuration, run, options);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "busy" || tries === lockTries) throw error;
      await Bun.sleep(lockPauseMs);
    }
  }
}

async function withOwnStore<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
  { whereNone }: StoreOptions = {},
): Promise<T> {
  const { withStore } = await import("./store.ts");
  if (whereNone === "create") return withStore(configuration, run, { createsStore: true });
  try {
    return await withStore(configuration, run);
  } catch (error) {
    if (whereNone === undefined || !(error instanceof NoDatabase)) throw error;
  }
  const dataDir = mkdtempSync(join(tmpdir(), "svc-try-"));
  const elsewhere = { SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: "", SVC_DATABASE_URL_FILE: "" };
  try {
    const tried = loadConfiguration({ ...configuration.environment, ...elsewhere });
    return await withStore(tried, run, { createsStore: true });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
