import { type Clock, systemClock } from "../base/clock.ts";
import type { UpstreamReason } from "../base/errors.ts";
import { FeedFollower } from "../base/feed.ts";
import { createLog, type Log } from "../base/log.ts";
import { listenerUrl, socketPath } from "../base/network/listen.ts";
import { fillTextBounds } from "../call/text-bound.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { ServedTarget } from "../catalog/health.ts";
import { engineProvider, type ProviderEntry, type StoredOption } from "../catalog/model.ts";
import { chosenKey, defaultKey, keysOf, withKey } from "../catalog/provider-keys.ts";
import { connectionDigest } from "../catalog/target-checks.ts";
import { engineEntry } from "../catalog/target-states.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { wantsColour } from "../config/terminal.ts";
import { createEngineProvider } from "../engine/provider.ts";
import type { EngineSupervisor } from "../engine/supervisor.ts";
import { ActiveCalls } from "../gateway/active-calls.ts";
import type { Billing } from "../gateway/billing/billing.ts";
import type { RejectionLog } from "../gateway/failures.ts";
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
  /** Resolves when what the start left to be done beside calls is done. */
  readonly prepared: Promise<void>;
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
  /** What keeps a record of refused calls; the bench puts one in its place that does nothing. */
  readonly rejections?: RejectionLog | undefined;
  readonly clock?: Clock;
  /** What hashing a password costs; tests that sign in often lower it. */
  readonly passwordCost?: PasswordCost;
  /** How the data directory is taken; tests of faults put a faulty disk between. */
  readonly open?: (configuration: Configuration) => Promise<Opened>;
  /** Counts tokens; tests share one, because each loads a vocabulary for most of a second. */
  readonly sharedCounter?: TokenCounter | undefined;
  /** How long a report may take; tests on a slow machine wait longer. */
  readonly reportLimitMs?: number | undefined;
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
  rejections,
  clock = systemClock,
  passwordCost,
  open = openStore,
  sharedCounter,
  reportLimitMs,
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
      reportLimitMs,
      maxCallMs: settings.maxCallMs,
      clock,
      log,
    });
    undo.push(() => money.close());
    const people = new People(opened.store.people, clock, new Passwords(passwordCost));
    const state = await loadState({ configuration, opened, engine, money, lookup, clock, log });
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
        forgetServed: (target) => state.router.forgetServed(target),
        // Not the public address: the command line calls from this machine.
        baseUrl: () => `${listenerUrl(settings.host, gateway.port)}/v1`,
      },
    });
    const operationsOf = (actor: Actor) => forActor(unbound, { actor, clock });
    const operations = operationsOf(serverStart);
    const prepared = fillTextBounds()
      .then(() => opened.store.releaseMemory())
      // The server may have been stopped meanwhile.
      .catch(() => {});
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
      rejections,
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
    return {
      gatewayUrl,
      platformUrl,
      operations,
      log,
      engine,
      applied,
      stop,
      prepared,
      takenOver,
    };
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
  readonly clock: Clock;
  readonly log: Log;
}

/** When the state of a target changes: after a restart it is still known whether it works. */
async function noteOutcome(options: {
  readonly target: ServedTarget;
  readonly isOk: boolean;
  readonly catalog: Catalog;
  readonly store: Opened["store"];
  readonly clock: Clock;
}): Promise<void> {
  const { target, isOk, catalog, store, clock } = options;
  const { provider, key: name = defaultKey, model } = target;
  const entry = [engineEntry, ...catalog.providers].find((one) => one.name === provider);
  if (entry === undefined) return;
  const digest = connectionDigest(entry, chosenKey(entry, target.key));
  const check = { provider, key: name, model, digest, isOk, atMs: clock.nowMs() };
  await store.targetChecks.save(check);
}

/** Of failures that last until the operator does something; the others may be over by then. */
const lasting: readonly (UpstreamReason | null)[] = ["auth", "quota", "missing"];

/** What the gateway holds in memory, kept up by the change feed. */
async function loadState({
  configuration,
  opened: { store, secrets },
  engine,
  money,
  lookup,
  clock,
  log,
}: LoadOptions): Promise<State> {
  const keys = new KeyDirectory(store.keys, secrets.keyHashKey);
  const catalog = new Catalog(store.catalog, routeCheck(configuration));
  const { variable } = configuration;
  const providers = new ProviderRegistry({
    lookup,
    usesProxy: proxyCheck(configuration.environment),
  });
  const onOutcome = (target: ServedTarget, isOk: boolean) =>
    void noteOutcome({ target, isOk, catalog, store, clock }).catch((error: unknown) =>
      log.warn("cannot record the state of a target", { detail: String(error) }),
    );
  const router = createRouter({ configuration, providers, engine, onOutcome, log });
  const reloadCatalog = async () => {
    await catalog.reload();
    const changed = providers.replaceAll(
      catalog.providers.flatMap((entry) => toSettings({ entry, secrets, variable, log })),
    );
    // Another key or address: what the old one did is not held against it.
    for (const one of changed) router.forget(one);
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
  readonly onOutcome: (target: ServedTarget, isOk: boolean) => void;
  readonly log: Log;
}): Router {
  const { configuration, providers, engine, onOutcome, log } = options;
  const { settings } = configuration;
  const embedded =
    engine &&
    createEngineProvider({
      socket: socketPath(settings.dataDir, "engine.sock"),
      whenReady: (model, signal) => engine.whenReady(model, signal),
    });
  return new Router({
    findProvider: (name, key) => (name === engineProvider ? embedded : providers.find(name, key)),
    keysOf: (name) => providers.keysOf(name),
    onServed: (target) => onOutcome(target, true),
    retries: settings.retries,
    hasBreakers: settings.breakers === "on",
    probe: probeTarget,
    onChange: ({ provider, model, key, state, reason }) => {
      const told = { provider, model, ...(key === null ? {} : { key }), reason };
      if (state === "closed") return log.info("target back in service", told);
      log.warn("target out of service", told);
      if (lasting.includes(reason)) onOutcome({ provider, model, key: key ?? undefined }, false);
    },
  });
}

interface EntryOptions {
  readonly entry: ProviderEntry;
  readonly secrets: Secrets;
  readonly variable: Configuration["variable"];
  readonly log: Log;
}

/**
 * One for each key in use. Skips what is paused and what has no key: the log has the reason, and
 * models without another target return 502.
 */
function toSettings({ entry, secrets, variable, log }: EntryOptions): readonly ProviderSettings[] {
  const isSet = (wanted: string) => (variable(wanted) ?? "") !== "";
  if (entry.isPaused === true) return [];
  for (const { message } of providerWarnings(entry, isSet)) log.warn(message);
  const lacks = (one: StoredOption) => "variable" in one && !isSet(one.variable);
  if (Object.values(entry.options ?? {}).some(lacks)) return [];
  const keys = keysOf(entry);
  const open = (one: ProviderEntry) => openSettings({ entry: one, secrets, variable });
  if (keys.length === 0) return [open(entry)];
  return keys
    .filter(({ isPaused, secret }) => isPaused !== true && !lacks(secret))
    .map((key) => {
      const settings = open(withKey(entry, key));
      const { name, weight } = key;
      return keys.length === 1 ? settings : { ...settings, key: { name, weight } };
    });
}
