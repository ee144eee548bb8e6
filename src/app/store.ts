import { SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { toUsd } from "../base/money.ts";
import { userOfServer } from "../base/owned-file.ts";
import { inFile, Problem } from "../base/problem.ts";
import { engineProvider, type Route } from "../catalog/model.ts";
import type { Command } from "../cli/command.ts";
import { ownGatewayUrl, ownPlatformUrl } from "../config/addresses.ts";
import { isCommand } from "../config/key-commands.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { isPostgresUrl } from "../config/setting-readers.ts";
import type { LedgerReader } from "../ledger/store.ts";
import { manifestDigest } from "../manifest/manifest.ts";
import { createFactors, type Factors } from "../people/factors/factors.ts";
import type { Identities } from "../people/identity/identities.ts";
import { People } from "../people/people.ts";
import type { RunningMoney } from "../platform/accounts/funds.ts";
import { commandLine } from "../platform/audit/author.ts";
import type { RunningEngine } from "../platform/engine/operations.ts";
import type { RunningExports } from "../platform/exports/operations.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import type { LogReader } from "../platform/logs/operations.ts";
import type { ApplyView } from "../platform/manifest/change.ts";
import {
  createOperations,
  forActor,
  type Operations,
  type UnboundOperations,
} from "../platform/operations.ts";
import { addressProblem } from "../providers/kit/address.ts";
import { masterSecret } from "../secrets/master-secret.ts";
import { refuseCopied } from "../store/sqlite/copied.ts";
import {
  realDatabasePath,
  refuseEmptied,
  refuseMissing,
  syncFolder,
} from "../store/sqlite/database-file.ts";
import { openLedgerReader, refuseNewer } from "../store/sqlite/ledger/reader.ts";
import { lockDatabase, lockDataDir } from "../store/sqlite/lock.ts";
import { migrate } from "../store/sqlite/migrations/migrations.ts";
import { openSqlite } from "../store/sqlite/sqlite.ts";
import { createStore, hasLedger, otherSecret } from "../store/sqlite/store.ts";
import { toStoreProblem } from "../store/sqlite/store-problem.ts";
import type { Store } from "../store/store.ts";
import { createExports } from "./exports.ts";
import { createPost } from "./mail.ts";
import { directoryUser, type Opened, type StoreUser } from "./opened.ts";
import { masterPlace, openSecrets, secretSource, warnOfOpenSecret } from "./secret.ts";
import { noSqlite, refuseNoSqlite } from "./sqlite-file.ts";
import { throughStore } from "./through-store.ts";
import { noteThisVersion, prepareUpgrade, printUpgrade } from "./upgrade.ts";

function databasePath({ settings }: Configuration): string {
  return settings.databaseUrl ?? join(settings.dataDir, "svc.db");
}

/**
 * Takes the data directory and the database for this process: locks, database, secret, in this
 * order. A first start that is killed on the way leaves nothing that the next one could take for
 * the rest of a ledger.
 */
export async function openStore(
  configuration: Configuration,
  user: StoreUser = { kind: "server" },
): Promise<Opened> {
  const { dataDir, databaseUrl } = configuration.settings;
  if (isPostgresUrl(databaseUrl)) return openShared(configuration, databaseUrl, user);
  const undo: (() => void)[] = [];
  const unwind = () => {
    for (const step of undo.toReversed()) step();
  };
  let path = databasePath(configuration);
  try {
    if (user.mustExist) refuseNoSqlite(path, configuration.settings);
    const lock = lockDataDir(dataDir, directoryUser(user));
    undo.push(() => lock.release());
    path = realDatabasePath(path);
    undo.push(lockDatabase(path));
    refuseMissing(path, dataDir);
    const sqlite = openSqlite(path);
    undo.push(() => sqlite.raw.close());
    const hasDatabase = hasLedger(sqlite);
    if (hasDatabase && user.kind !== "copy") refuseCopied(sqlite);
    if (!hasDatabase) {
      refuseEmptied(path);
      if (user.mustExist) throw noSqlite(path, configuration.settings, true);
      syncFolder(path);
    }
    const { settings } = configuration;
    const text = masterSecret({ ...secretSource(settings), hasDatabase });
    const { onUpgrade = printUpgrade } = user;
    await prepareUpgrade({ sqlite, settings, onUpgrade });
    const { db } = sqlite;
    await migrate(db);
    const keys = await openSecrets({ db, settings, text, advice: otherSecret });
    const { secrets } = keys;
    const store = await createStore(sqlite, secrets.fingerprint);
    await noteThisVersion(sqlite.db);
    await recountOpen(store);
    const close = async () => {
      await store.close();
      unwind();
    };
    return { store, secrets, keys, lock, close };
  } catch (error) {
    unwind();
    throw toStoreProblem(error, path, dataDir);
  }
}

async function openShared(
  configuration: Configuration,
  url: string,
  user: StoreUser,
): Promise<Opened> {
  // Loaded here, because most installations do without it.
  const { openPostgresStore } = await import("./postgres.ts");
  try {
    return await openPostgresStore(configuration, url, user);
  } catch (error) {
    throw await problemOf(error, configuration);
  }
}

/** What is wrong with the database, for a person; other errors are returned unchanged. */
export async function problemOf(error: unknown, configuration: Configuration): Promise<unknown> {
  const { databaseUrl } = configuration.settings;
  if (!isPostgresUrl(databaseUrl)) return toStoreProblem(error, databasePath(configuration));
  // Loaded here, because most installations do without it.
  const { toPostgresProblem } = await import("../store/postgres/store-problem.ts");
  return toPostgresProblem(error, databaseUrl);
}

/** Whether several processes can share the database. */
export const hasPostgres = ({ settings }: Configuration) => isPostgresUrl(settings.databaseUrl);

/** The totals of a process that died lack its last receipts. */
async function recountOpen({ ledger: { rollups } }: Store): Promise<void> {
  const openFromMs = await rollups.openFromMs();
  if (openFromMs === undefined) return;
  await rollups.recount(openFromMs).catch((error: unknown) => {
    // The account is overdrawn. The totals stay open, so that a credit can be added.
    if (!(error instanceof SQLiteError) || !error.message.includes("leases_never_overspent"))
      throw error;
  });
}

/** Refuses to serve an overdrawn ledger: its money was spent twice, and would be again. */
export async function refuseBelowZero({ checkBalances, ledger }: Store): Promise<void> {
  const { belowZero, wrongFromMs } = await checkBalances();
  if (belowZero === undefined) {
    if (wrongFromMs !== undefined) await ledger.rollups.recount(wrongFromMs);
    return;
  }
  const { accountId, name, missingNano } = belowZero;
  throw new Problem({
    code: "failed",
    message: `Account ${name} (${accountId}) is overdrawn by ${toUsd(missingNano)} USD, so the server cannot start. Find the cause, then credit the account by that amount.`,
    command: "ledger verify",
  });
}

export interface OperationsOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly takeEffect: () => Promise<void>;
  readonly clock?: Clock;
  /** One for the whole process. */
  readonly people?: People;
  readonly log?: Log;
  readonly factors?: Factors;
  readonly identities?: Identities | undefined;
  /** The address of the platform; default: from the settings. */
  readonly platformUrl?: () => string;
  /** Absent when no server runs. */
  readonly money?: RunningMoney | undefined;
  readonly gateway?: RunningGateway | undefined;
  /** Absent when no server runs, or without embedded models. */
  readonly engine?: RunningEngine | undefined;
  /** Absent when no server runs. */
  readonly exporter?: RunningExports | undefined;
  /** The latest lines of the log; absent when no server runs. */
  readonly recent?: LogReader | undefined;
}

export function operationsOn({
  configuration,
  opened,
  takeEffect,
  clock = systemClock,
  people = new People(opened.store.people, clock),
  factors = createFactors(people, opened.secrets),
  identities,
  log,
  platformUrl = () => platformAddress(configuration),
  money,
  gateway,
  engine,
  exporter = createExports({
    store: opened.store,
    settings: configuration.settings,
    readLedger: (run) => withLedger(configuration, run),
    variable: configuration.variable,
    environment: configuration.environment,
    usesProxy: proxyCheck(configuration.environment),
    userOfServer: userOfServer(configuration.settings.dataDir),
    clock,
  }),
  recent,
}: OperationsOptions): UnboundOperations {
  const { store, secrets, shared } = opened;
  const live = gateway && shared?.live;
  return createOperations({
    ...store,
    people,
    factors,
    identities,
    post: createPost(configuration.settings, { clock, log }),
    secrets,
    masterPlace: masterPlace(opened.keys, configuration),
    clock,
    platformUrl,
    money,
    fleet: shared?.fleet,
    callSources: live && {
      receipts: live.watchers,
      rejections: live.rejectionWatchers,
      listening: live.listening,
    },
    // A command runs where calls are made: it is not missing where it has not run yet.
    variable: (name) =>
      isCommand(name) && !configuration.commands.hasRun(name) ? "…" : configuration.variable(name),
    checkAddress: addressProblem,
    isUsable: routeCheck(configuration),
    engineFile: configuration.namesEngine ? basename(configuration.filePath) : undefined,
    takeEffect,
    dataDir: configuration.settings.dataDir,
    gateway,
    engine,
    exporter,
    recentLog: recent,
    upstreams: async () =>
      (await import("./upstreams.ts")).createUpstreams({ configuration, secrets }),
  });
}

/** Where no platform listens in this process. */
export function platformAddress({ settings }: Configuration): string {
  const { platformUrl, platformPort } = settings;
  return platformUrl ?? ownPlatformUrl(settings, platformPort);
}

/** Ends in /v1. */
export const gatewayAddress = ({ settings }: Configuration) =>
  `${ownGatewayUrl(settings, settings.port)}/v1`;

/** Routes to the embedded models lead nowhere while these are switched off. */
export function routeCheck({ settings }: Configuration): (route: Route) => boolean {
  return ({ provider }) => settings.engine === "on" || provider !== engineProvider;
}

export interface FileOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly operations: Operations;
  readonly log: Log;
}

/**
 * What the start of a server does with the config file. Machines that share a database may have
 * different files for a while, so there only `svc apply` applies one.
 */
export async function applyAtStart(options: FileOptions): Promise<ApplyView | undefined> {
  const { configuration, opened, log } = options;
  warnOfOpenSecret(configuration.settings, log);
  if (!hasPostgres(configuration)) return applyChangedFile(options);
  await warnOfSqlite(options);
  const { file } = configuration;
  if (file === undefined) return undefined;
  const { hash } = await opened.store.catalog.manifestState();
  if (hash !== manifestDigest(file.text))
    log.warn("the config file differs from the one that was applied last; svc apply applies it", {
      file: file.path,
    });
  return undefined;
}

/** Who sets the address of a new database may expect to find the old accounts in it. */
async function warnOfSqlite({ configuration, opened, log }: FileOptions): Promise<void> {
  for await (const accounts of opened.store.accounts.pages()) if (accounts.length > 0) return;
  const path = join(configuration.settings.dataDir, "svc.db");
  if (!existsSync(path)) return;
  try {
    const reader = openLedgerReader(path);
    const accounts = await reader.accounts().finally(() => reader.close());
    if (accounts.length === 0) return;
    log.warn(
      "the PostgreSQL database is empty, but the data directory has a SQLite database with accounts; svc store copy moves it to an empty PostgreSQL database",
      { file: path, accounts: accounts.length },
    );
  } catch {
    // A file that cannot be read is not missed by who uses PostgreSQL.
  }
}

/**
 * Applies the config file if it has changed. A file that cannot be read ends the start. A file that
 * names entries it did not create is logged and skipped: the catalog is complete without it, and a
 * restart must not take a running service down.
 */
async function applyChangedFile(options: FileOptions): Promise<ApplyView | undefined> {
  const { configuration, opened, operations, log } = options;
  const { file } = configuration;
  if (file === undefined) return undefined;
  const { hash, adopts } = await opened.store.catalog.manifestState();
  if (!adopts && hash === manifestDigest(file.text)) return undefined;
  try {
    return await operations.manifest.apply({
      text: file.text,
      file: basename(file.path),
      dryRun: false,
      isOwnFile: true,
      isStart: true,
    });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "conflict") throw inFile(file.path, error);
    const { message, command } = error;
    log.error("config file not applied", { file: file.path, reason: message, command });
    return undefined;
  }
}

async function openSqliteReader(configuration: Configuration): Promise<LedgerReader> {
  const path = databasePath(configuration);
  refuseNoSqlite(path, configuration.settings);
  const reader = openLedgerReader(path);
  try {
    await refuseNewer(path);
    return reader;
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** Reads the ledger beside a running server, or without one; it costs the server nothing. */
export async function withLedger<T>(
  configuration: Configuration,
  run: (ledger: LedgerReader) => Promise<T>,
): Promise<T> {
  const { databaseUrl } = configuration.settings;
  let reader: LedgerReader | undefined;
  try {
    reader = isPostgresUrl(databaseUrl)
      ? await (await import("./postgres.ts")).openReader(databaseUrl)
      : await openSqliteReader(configuration);
    return await run(reader);
  } catch (error) {
    throw await problemOf(error, configuration);
  } finally {
    await reader?.close();
  }
}

/** Opens the store for the length of one command. */
export async function withStore<T>(
  configuration: Configuration,
  run: (operations: Operations) => Promise<T>,
  { createsStore }: Pick<Command, "createsStore"> = {},
): Promise<T> {
  const mustExist = createsStore === undefined;
  const opened = await openStore(configuration, { kind: "command", mustExist });
  try {
    const clock = opened.shared?.clock ?? systemClock;
    const gateways = throughStore(opened, clock);
    const gateway = gateways && { ...gateways, baseUrl: () => gatewayAddress(configuration) };
    const takeEffect = async () => opened.shared?.fleet.whenHeard();
    const operations = operationsOn({ configuration, opened, takeEffect, gateway, clock });
    return await run(forActor(operations, { actor: commandLine, clock }));
  } catch (error) {
    throw await problemOf(error, configuration);
  } finally {
    await opened.close();
  }
}
