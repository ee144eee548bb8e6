import { type Clock, systemClock } from "../base/clock.ts";
import { FeedFollower } from "../base/feed.ts";
import { createLog, type Log } from "../base/log.ts";
import { listenerUrl, socketPath } from "../base/network/listen.ts";
import { fillTextBounds } from "../call/text-bound.ts";
import { Catalog } from "../catalog/catalog.ts";
import { engineProvider, type ProviderEntry } from "../catalog/model.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { wantsColour } from "../config/terminal.ts";
import { createEngineProvider } from "../engine/provider.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import { ActiveCalls } from "../gateway/active-calls.ts";
import type { Billing } from "../gateway/billing/billing.ts";
import { type ApiVersion, v1 } from "../gateway/versions.ts";
import { KeyDirectory } from "../keys/directory.ts";
import type { TokenCounter } from "../ledger/tokens/token-counter.ts";
import { providerWarnings } from "../manifest/warnings.ts";
import { type PasswordCost, Passwords } from "../people/passwords.ts";
import { People } from "../people/people.ts";
import { type Actor, commandLine, serverStart } from "../platform/audit/author.ts";
import { startControl } from "../platform/control-socket.ts";
import type { ApplyView } from "../platform/manifest/change.ts";
import { forActor, type Operations } from "../platform/operations.ts";
import type { Lookup } from "../providers/kit/dial.ts";
import { ProviderRegistry, type ProviderSettings } from "../providers/registry.ts";
import { Router } from "../router/router.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { toStoreProblem } from "../store/sqlite/store-problem.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { addEmbedded, engineModelsOf, superviseEngine } from "./engine.ts";
import { listenGateway } from "./gateway.ts";
import { checkLedger, type Money, openMoney, whenTakenOver } from "./ledger.ts";
import { openControl } from "./platform.ts";
import {
  applyChangedFile,
  databasePath,
  type Opened,
  openStore,
  operationsOn,
  routeCheck,
} from "./store.ts";
import { openSettings, probeTarget } from "./upstreams.ts";

export interface RunningServer {
  readonly gatewayUrl: string;
  readonly platformUrl: string;
  readonly operations: Operations;
  readonly log: Log;
  /** The embedded models' keeper; absent when they are switched off. */
  readonly engine: EngineSupervisor | undefined;
  /** What the config file changed at this start, if it had changed. */
  readonly applied: ApplyView | undefined;
  /** No new requests; running ones may finish within the grace time. */
  stop(): Promise<void>;
  /** Resolves when another process has taken the database over and this server has stopped. */
  readonly takenOver: Promise<void>;
}

export interface ServerOptions {
  readonly configuration: Configuration;
  readonly version: string;
  readonly writeLog?: (line: string) => void;
  /** The versions of the API that the gateway serves. */
  readonly versions?: readonly ApiVersion[];
  /** What admits and charges calls; the ledger by default. */
  readonly billing?: Billing | undefined;
  readonly clock?: Clock;
  /** What hashing a password costs; tests that sign in often lower it. */
  readonly passwordCost?: PasswordCost;
  /** How the data directory is taken; tests of faults put a faulty disk between. */
  readonly open?: (configuration: Configuration) => Promise<Opened>;
  /** Counts tokens; tests share one, because each loads a vocabulary for most of a second. */
  readonly sharedCounter?: TokenCounter | undefined;
  /** How upstream names are resolved; default: by the operating system. */
  readonly lookup?: Lookup | undefined;
}

/** Starts everything, in the order in which it depends on each other; undone when a part fails. */
export async function startServer({
  configuration,
  version,
  writeLog = (line) => void process.stderr.write(line),
  versions = [v1],
  billing,
  clock = systemClock,
  passwordCost,
  open = openStore,
  sharedCounter,
  lookup,
}: ServerOptions): Promise<RunningServer> {
  const { settings } = configuration;
  const log = createLog({
    level: settings.logLevel,
    pretty: wantsColour(process.stderr),
    write: writeLog,
  });
  const opened = await open(configuration);
  const undo: (() => Promise<void>)[] = [opened.close];
  const unwind = async () => {
    const failures: unknown[] = [];
    // One that fails must not keep the others from closing.
    for (const step of undo.toReversed())
      await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const engine = settings.engine === "on" ? superviseEngine(configuration, log) : undefined;
    if (engine !== undefined) undo.push(() => engine.close());
    await checkLedger(opened.store, log);
    opened.store.startUpkeep((detail) => log.error("database checkpoint failed", { detail }));
    const money = await openMoney({
      store: opened.store,
      sharedCounter,
      maxCallMs: settings.maxCallMs,
      clock,
      log,
    });
    undo.push(() => money.close());
    const people = new People(opened.store.people, clock, new Passwords(passwordCost));
    const state = await loadState({ configuration, opened, engine, money, lookup, log });
    const unbound = operationsOn({
      configuration,
      opened,
      people,
      engine,
      clock,
      money,
      takeEffect: async () => {
        await opened.store.sync();
        await state.follower.catchUp();
      },
      // Known once the platform listens, and asked for only then.
      platformUrl: () => control.url,
      gateway: {
        issueTemporaryKey: (accountId, owner) =>
          state.keys.issueTemporary(accountId, clock.nowMs(), owner),
        endTemporaryKeys: (owner) => state.keys.endTemporary(owner),
        health: () => state.router.health(),
        resetHealth: (provider, model) => state.router.reset(provider, model),
        // Not the public address: the command line calls from this machine.
        baseUrl: () => `${listenerUrl(settings.host, gateway.port)}/v1`,
      },
    });
    const operationsOf = (actor: Actor) => forActor(unbound, { actor, clock });
    const operations = operationsOf(serverStart);
    void fillTextBounds();
    const calls = new ActiveCalls(settings);
    const metrics = new Metrics({ version, calls, router: state.router, ...money });
    undo.push(async () => metrics.close());
    money.receiptWatchers.add(metrics.traffic.watch);
    const gateway = listenGateway({
      configuration,
      opened,
      state,
      calls,
      versions,
      billing,
      money,
      metrics,
      clock,
      log,
    });
    undo.push(() => gateway.close());
    const gatewayUrl = settings.publicUrl ?? listenerUrl(settings.host, gateway.port);
    const control = openControl({
      configuration,
      opened,
      money,
      people,
      operations: unbound,
      gatewayUrl,
      metricsText: () => metrics.text(),
      version,
      clock,
      log,
    });
    undo.push(() => control.close());
    // Where a public address is set, people come from there, and from this machine too.
    const { url: platformUrl, port: platformPort } = control;
    const own = [platformUrl, listenerUrl(settings.platformHost, platformPort)];
    for (const origin of settings.corsOrigins ?? [...own, `http://localhost:${platformPort}`])
      state.origins.add(origin);
    // Only now: a start that finds its port taken must leave the store as it was.
    const applied = await applyChangedFile({ configuration, opened, operations, log });
    if (engine !== undefined)
      await addEmbedded({ configuration, opened, follower: state.follower, clock });
    opened.lock.describe({ pid: process.pid, address: listenerUrl(settings.host, gateway.port) });
    const socket = startControl(settings.dataDir, operationsOf(commandLine));
    undo.push(() => socket.close());
    let stopped: Promise<void> | undefined;
    const stopWithin = async (graceMs: number) => {
      gateway.stopAccepting();
      await calls.drain(graceMs);
      await unwind();
    };
    const stop = () => (stopped ??= stopWithin(settings.graceMs));
    // What still runs can no longer be paid for: it ends at once.
    const end = () => (stopped ??= stopWithin(0));
    const takenOver = whenTakenOver({ store: opened.store, end, log });
    return { gatewayUrl, platformUrl, operations, log, engine, applied, stop, takenOver };
  } catch (error) {
    await unwind().catch(() => {});
    throw toStoreProblem(error, databasePath(configuration));
  }
}

interface State {
  readonly keys: KeyDirectory;
  readonly catalog: Catalog;
  readonly providers: ProviderRegistry;
  readonly follower: FeedFollower;
  readonly origins: Set<string>;
  readonly router: Router;
}

interface LoadOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly engine: EngineSupervisor | undefined;
  readonly money: Money;
  readonly lookup: Lookup | undefined;
  readonly log: Log;
}

/** What the gateway holds in memory, kept up by the change feed. */
async function loadState({
  configuration,
  opened: { store, secrets },
  engine,
  money,
  lookup,
  log,
}: LoadOptions): Promise<State> {
  const keys = new KeyDirectory(store.keys, secrets.keyHashKey);
  const catalog = new Catalog(store.catalog, routeCheck(configuration));
  const { variable } = configuration;
  const providers = new ProviderRegistry({
    lookup,
    usesProxy: proxyCheck(configuration.environment),
  });
  const router = createRouter({ configuration, providers, engine, log });
  const reloadCatalog = async () => {
    await catalog.reload();
    const changed = providers.replaceAll(
      catalog.providers.flatMap((entry) => toSettings({ entry, secrets, variable, log })),
    );
    // Another key or address: what the old one did is not held against it.
    for (const name of changed) router.reset(name);
    router.keepOnly(catalog.served);
    engine?.need(engineModelsOf(catalog));
  };
  const follower = new FeedFollower(store.feed, {
    async changed({ topic, subject }) {
      if (topic === "keys") {
        await keys.reload(subject);
        if (!keys.has(subject)) money.limiter.forget(subject);
      }
      if (topic === "accounts") await money.purses.reload(subject);
      if (topic === "catalog") await reloadCatalog();
    },
    async reloadAll() {
      await money.purses.reloadAll();
      await keys.reloadAll();
      await reloadCatalog();
    },
  });
  await follower.start();
  return { keys, catalog, providers, router, follower, origins: new Set() };
}

/** Routes calls to the active providers. The embedded models are one of them. */
function createRouter(options: {
  readonly configuration: Configuration;
  readonly providers: ProviderRegistry;
  readonly engine: EngineSupervisor | undefined;
  readonly log: Log;
}): Router {
  const { configuration, providers, engine, log } = options;
  const { settings } = configuration;
  const embedded =
    engine &&
    createEngineProvider({
      socket: socketPath(settings.dataDir, "engine.sock"),
      whenReady: (model, signal) => engine.whenReady(model, signal),
    });
  return new Router({
    findProvider: (name) => (name === engineProvider ? embedded : providers.find(name)),
    retries: settings.retries,
    hasBreakers: settings.breakers === "on",
    probe: probeTarget,
    onChange: ({ provider, model, state, reason }) => {
      const told = { provider, model, reason };
      if (state === "closed") log.info("target back in service", told);
      else log.warn("target out of service", told);
    },
  });
}

interface EntryOptions {
  readonly entry: ProviderEntry;
  readonly secrets: Secrets;
  readonly variable: Configuration["variable"];
  readonly log: Log;
}

/** Skips a provider without its key: its models return 502, and the log has the reason. */
function toSettings({ entry, secrets, variable, log }: EntryOptions): readonly ProviderSettings[] {
  const [warning] = providerWarnings(entry, (wanted) => (variable(wanted) ?? "") !== "");
  if (warning !== undefined) {
    log.warn(warning.message);
    return [];
  }
  return [openSettings({ entry, secrets, variable })];
}
