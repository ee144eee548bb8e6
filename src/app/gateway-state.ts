import { type Clock, nextTurn } from "../base/clock.ts";
import type { UpstreamReason } from "../base/errors.ts";
import { FeedFollower, type FeedTopic } from "../base/feed.ts";
import type { Log } from "../base/log.ts";
import { socketPath } from "../base/network/listen.ts";
import type { Signal } from "../call/signal.ts";
import { Catalog } from "../catalog/catalog.ts";
import { fromTargetSubject, type ServedTarget } from "../catalog/health.ts";
import { engineProvider, type ProviderEntry, type StoredOption } from "../catalog/model.ts";
import { chosenKey, defaultKey, keysOf, withKey } from "../catalog/provider-keys.ts";
import { connectionDigest } from "../catalog/target-checks.ts";
import { engineEntry } from "../catalog/target-states.ts";
import { isCommand } from "../config/key-commands.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { referenceProblem } from "../config/references.ts";
import { createEngineProvider } from "../engine/provider.ts";
import { KeyDirectory } from "../keys/directory.ts";
import { SignedKeys } from "../keys/signed-keys.ts";
import { providerWarnings } from "../manifest/warnings.ts";
import type { ChangedProvider } from "../providers/contract.ts";
import type { Lookup } from "../providers/kit/dial.ts";
import { ProviderRegistry, type ProviderSettings } from "../providers/registry.ts";
import { Router } from "../router/router.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { engineModelsOf } from "./engine.ts";
import type { Money } from "./ledger.ts";
import type { Opened } from "./opened.ts";
import { type ChangedReferences, ReferenceWatch, referencesOf } from "./reference-watch.ts";
import { routeCheck } from "./store.ts";
import type { Undo } from "./undo.ts";
import { openSettings, probeTarget } from "./upstreams.ts";

export interface GatewayState {
  readonly keys: KeyDirectory;
  readonly catalog: Catalog;
  readonly providers: ProviderRegistry;
  readonly follower: FeedFollower;
  readonly origins: Set<string>;
  readonly router: Router;
  /** Resolves when the commands that print keys have run, or take too long. */
  whenKeysPrinted(): Promise<void>;
}

/** The embedded models, as a gateway uses them; their process may belong to another one. */
export interface EngineAccess {
  /** Throws `model_loading` with the progress; waits for an engine that is (re)starting. */
  whenReady(model: string, signal: Signal): Promise<void>;
  /** The models that the catalog routes to the engine. */
  need(models: Iterable<string>): void;
}

export interface StateOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly engine: EngineAccess | undefined;
  readonly money: Money;
  readonly lookup: Lookup | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly undo: Undo;
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
export async function loadState({
  configuration,
  opened: { store, secrets, shared },
  engine,
  money,
  lookup,
  clock,
  log,
  undo,
}: StateOptions): Promise<GatewayState> {
  const signed = shared && new SignedKeys(secrets.keyHashKey);
  const keys = new KeyDirectory(store.keys, secrets.keyHashKey, signed);
  const reloadEnded = async () =>
    signed?.setEnded((await shared?.endedOwners.ended()) ?? new Map());
  const catalog = new Catalog(store.catalog, routeCheck(configuration));
  const { commands } = configuration;
  const providers = new ProviderRegistry({
    lookup,
    usesProxy: proxyCheck(configuration.environment),
  });
  const onOutcome = (target: ServedTarget, isOk: boolean) =>
    void noteOutcome({ target, isOk, catalog, store, clock }).catch((error: unknown) =>
      log.warn("cannot record the state of a target", { detail: String(error) }),
    );
  const onKeyRejected = (rejected: ChangedProvider) => void watch.rejected(rejected);
  const router = createRouter({
    configuration,
    providers,
    engine,
    onOutcome,
    onKeyRejected,
    log,
  });
  const setProviders = (references?: ChangedReferences) => {
    watch.expect(catalog.providers);
    const changed = providers.replaceAll(
      catalog.providers.flatMap((entry) => toSettings({ entry, secrets, configuration, log })),
    );
    // Another key or address: what the old one did is not held against it.
    for (const one of changed) if (references?.isRepeated(one) !== true) router.forget(one);
  };
  const watch = new ReferenceWatch({ commands, log, onChange: setProviders });
  undo.push(() => watch.close());
  const reloadCatalog = async () => {
    await catalog.reload();
    setProviders();
    router.keepOnly(catalog.served);
    engine?.need(engineModelsOf(catalog));
  };
  const follower = new FeedFollower(store.feed, {
    async changed(changes) {
      const subjectsOf = (wanted: FeedTopic) =>
        new Set(changes.flatMap(({ topic, subject }) => (topic === wanted ? [subject] : [])));
      await inSteps(subjectsOf("accounts"), (ids) => money.purses.reload(ids));
      await inSteps(subjectsOf("keys"), async (ids) => {
        await keys.reload(ids);
        for (const id of ids) if (!keys.has(id)) money.limiter.forget(id);
      });
      if (subjectsOf("catalog").size > 0) await reloadCatalog();
      if (subjectsOf("temporary-keys").size > 0) await reloadEnded();
      for (const { topic, subject } of changes)
        if (topic === "targets") hearOfTarget(router, subject);
    },
    async reloadAll() {
      await Promise.all([money.purses.reloadAll(), keys.reloadAll()]);
      await reloadEnded();
      await reloadCatalog();
    },
    // Alone on its database, a process is never behind for long, and its purses are all the money.
    ...(shared && {
      async endStale() {
        await keys.endUnusable(clock.nowMs());
        await money.purses.endSuspended();
        await reloadEnded();
        await reloadCatalog();
      },
    }),
  });
  await follower.start();
  const whenKeysPrinted = () => watch.started();
  await whenKeysPrinted();
  return { keys, catalog, providers, router, follower, origins: new Set(), whenKeysPrinted };
}

/** Read at once. */
const rowsAtOnce = 500;

async function inSteps(
  subjects: ReadonlySet<string>,
  work: (some: readonly string[]) => Promise<void>,
): Promise<void> {
  const all = [...subjects];
  for (let at = 0; at < all.length; at += rowsAtOnce) {
    await work(all.slice(at, at + rowsAtOnce));
    await nextTurn();
  }
}

/** Another process put targets back in service, or tested one. */
function hearOfTarget(router: Router, subject: string): void {
  const news = fromTargetSubject(subject);
  if (news?.kind === "reset") router.reset(news.provider, news.model);
  if (news?.kind === "forget-served") router.forgetServed(news.target);
}

/** Routes calls to the active providers. The embedded models are one of them. */
function createRouter(options: {
  readonly configuration: Configuration;
  readonly providers: ProviderRegistry;
  readonly engine: EngineAccess | undefined;
  readonly onOutcome: (target: ServedTarget, isOk: boolean) => void;
  readonly onKeyRejected: (rejected: ChangedProvider) => void;
  readonly log: Log;
}): Router {
  const { configuration, providers, engine, onOutcome, onKeyRejected, log } = options;
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
    onKeyRejected,
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
  readonly configuration: Configuration;
  readonly log: Log;
}

/**
 * One for each key in use. Skips what is paused and what has no key: the log has the reason, and
 * models without another target return 502.
 */
function toSettings(options: EntryOptions): readonly ProviderSettings[] {
  const { entry, secrets, configuration, log } = options;
  const { variable, commands } = configuration;
  const isSet = (wanted: string) => (variable(wanted) ?? "") !== "";
  if (entry.isPaused === true) return [];
  // A command that runs for the first time is not missing yet.
  const isExpected = (one: string) => isSet(one) || (isCommand(one) && !commands.hasRun(one));
  for (const { message } of providerWarnings(entry, isExpected)) log.warn(message);
  for (const one of new Set(referencesOf(entry))) {
    const problem = referenceProblem(one, commands);
    if (problem !== undefined) log.warn(`provider ${entry.name}: ${problem}`);
  }
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
