import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import { Problem } from "./base/problem.ts";
import { engineProvider, type Route } from "./catalog/model.ts";
import type { Configuration } from "./config/load.ts";
import type { LedgerReader } from "./ledger/store.ts";
import { audited } from "./platform/audited.ts";
import { connectControl } from "./platform/control.ts";
import type { RunningEngine } from "./platform/engine-operations.ts";
import type { RunningMoney } from "./platform/money-operations.ts";
import { createOperations, type Operations, type RunningGateway } from "./platform/operations.ts";
import { addressProblem } from "./providers/kit/address.ts";
import { createSecrets, masterSecret, type Secrets } from "./secrets/secrets.ts";
import { openLedgerReader } from "./store/ledger-reader.ts";
import { type DataLock, lockDataDir } from "./store/lock.ts";
import { openSqlite } from "./store/sqlite.ts";
import { createStore, type Store } from "./store/store.ts";

export interface Opened {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly lock: DataLock;
  close(): Promise<void>;
}

/** Takes the data directory for this process: lock, secret, database, in this order. */
export async function openStore({ settings }: Configuration): Promise<Opened> {
  const { dataDir, databaseUrl, secret } = settings;
  const lock = lockDataDir(dataDir);
  try {
    const path = databaseUrl ?? join(dataDir, "svc.db");
    const hasDatabase = existsSync(path);
    const secrets = createSecrets(masterSecret({ fromEnvironment: secret, dataDir, hasDatabase }));
    const store = await createStore(openSqlite(path), secrets.fingerprint);
    // A process that died has left sums behind that lack its last receipts.
    const openFromMs = await store.ledger.rollups.openFromMs();
    if (openFromMs !== undefined) await store.ledger.rollups.recount(openFromMs);
    const close = async () => {
      await store.close();
      lock.release();
    };
    return { store, secrets, lock, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

export interface OperationsOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly takeEffect: () => Promise<void>;
  readonly clock?: Clock;
  /** Where people reach the platform; by the settings, unless told. */
  readonly platformUrl?: () => string;
  /** Absent when no server runs. */
  readonly money?: RunningMoney;
  readonly gateway?: RunningGateway;
  /** Absent when no server runs, or without embedded models. */
  readonly engine?: RunningEngine | undefined;
}

export function operationsOn({
  configuration,
  opened,
  takeEffect,
  clock = systemClock,
  platformUrl = () => platformAddress(configuration),
  money,
  gateway,
  engine,
}: OperationsOptions): Operations {
  const { store, secrets } = opened;
  return createOperations({
    ...store,
    secrets,
    clock,
    platformUrl,
    money,
    variable: configuration.variable,
    checkAddress: addressProblem,
    isUsable: routeCheck(configuration),
    takeEffect,
    dataDir: configuration.settings.dataDir,
    gateway,
    engine,
    upstreams: async () =>
      (await import("./connect.ts")).createUpstreams({ configuration, secrets }),
  });
}

/** For links that are made while no server runs. */
function platformAddress({ settings }: Configuration): string {
  const { platformUrl, platformHost, platformPort } = settings;
  return platformUrl ?? `http://${platformHost}:${platformPort}`;
}

/** Routes to the embedded models lead nowhere while these are switched off. */
export function routeCheck({ settings }: Configuration): (route: Route) => boolean {
  return ({ provider }) => settings.engine === "on" || provider !== engineProvider;
}

/** Reads the ledger beside a running server, or without one; it costs the server nothing. */
export async function withLedger<T>(
  { settings }: Configuration,
  run: (ledger: LedgerReader) => Promise<T>,
): Promise<T> {
  const reader = openLedgerReader(settings.databaseUrl ?? join(settings.dataDir, "svc.db"));
  try {
    return await run(reader);
  } finally {
    await reader.close();
  }
}

/** Other commands hold the data directory for a moment only: it is worth a wait. */
const lockTries = 30;
const lockPauseMs = 100;

/** Asks the running server; where none runs, opens the store for the length of one command. */
export async function withOperations<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const running = await connectControl(configuration.settings.dataDir);
    if (running !== undefined) return run(running.operations);
    try {
      return await withStore(configuration, run);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "busy" || tries === lockTries) throw error;
      await Bun.sleep(lockPauseMs);
    }
  }
}

async function withStore<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
): Promise<T> {
  const opened = await openStore(configuration);
  try {
    const operations = operationsOn({ configuration, opened, takeEffect: async () => {} });
    const { people } = opened.store;
    return await run(audited({ operations, people, clock: systemClock }));
  } finally {
    await opened.close();
  }
}
