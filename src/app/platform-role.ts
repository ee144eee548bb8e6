import type { Clock } from "../base/clock.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import { localhostPlatformUrl, ownPlatformUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import type { Settings } from "../config/settings.ts";
import { createFactors } from "../people/factors/factors.ts";
import { type PasswordCost, Passwords } from "../people/passwords.ts";
import { People } from "../people/people.ts";
import { SignInLimits } from "../people/sign-in-limits.ts";
import { type Actor, commandLine, serverStart } from "../platform/audit/author.ts";
import { startControl } from "../platform/control-socket.ts";
import type { RunningEngine } from "../platform/engine/operations.ts";
import { forActor, type Operations } from "../platform/operations.ts";
import type { Respond } from "../platform/server.ts";
import type { WriteMetrics } from "../telemetry/exports.ts";
import { Exposition } from "../telemetry/exposition.ts";
import type { Otlp } from "../telemetry/otlp/otlp.ts";
import { createExports } from "./exports.ts";
import type { GatewayLink } from "./gateway-link.ts";
import { createIdentities } from "./identities.ts";
import type { ServerLog } from "./log.ts";
import type { Opened } from "./opened.ts";
import { openControl } from "./platform.ts";
import { operationsOn, withLedger } from "./store.ts";
import { closingShare, type Undo } from "./undo.ts";

export interface PlatformRoleOptions extends ServerLog {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly link: GatewayLink;
  readonly engine: RunningEngine | undefined;
  readonly version: string;
  /** Undefined where no collector is set. */
  readonly otlp: Otlp | undefined;
  /** Undefined where SVC_TLS_CERT is not set. */
  readonly certificate: ListenerCertificate | undefined;
  /** What hashing a password costs; tests that sign in often lower it. */
  readonly passwordCost?: PasswordCost | undefined;
  /** How often open pages hear of new calls; absent: the usual. */
  readonly liveEveryMs?: number | undefined;
  readonly clock: Clock;
  /** Gets what this opens. */
  readonly undo: Undo;
}

/** A process that people and commands ask: operations, console and platform API. */
export interface PlatformRole {
  readonly url: string;
  readonly port: number;
  /** What the listener answers with, for callers in this process. */
  readonly respond: Respond;
  /** In the name of this start. */
  readonly operations: Operations;
  /** Commands of this machine can reach the process from here on. */
  openSocket(): void;
}

export function startPlatformRole(options: PlatformRoleOptions): PlatformRole {
  const { configuration, opened, link, engine, version, passwordCost, clock, log, undo } = options;
  const { certificate } = options;
  const limits = new SignInLimits(opened.shared?.signInTries);
  const { sessionIdleMs: idleMs, sessionMaxMs: longestMs } = configuration.settings;
  const policy = {
    idleMs,
    longestMs,
    requireFactor: configuration.settings.requireSecondFactor,
    trustsIdentity: configuration.settings.oidcSecondFactor !== "require",
    localSignIn: configuration.settings.oidcPasswords,
    identityName: configuration.settings.oidcName,
    identityIssuer: URL.parse(configuration.settings.oidcIssuer ?? "")?.href,
  };
  const passwords = new Passwords(passwordCost);
  const people = new People(opened.store.people, clock, { passwords, limits, policy });
  const factors = createFactors(people, opened.secrets);
  const exporter = createExports({
    store: opened.store,
    settings: configuration.settings,
    readLedger: (run) => withLedger(configuration, run),
    variable: configuration.variable,
    environment: configuration.environment,
    usesProxy: proxyCheck(configuration.environment),
    clock,
    log,
  });
  if (options.otlp !== undefined) options.otlp.readMore = () => exporter.readMetrics();
  const running = exporter.start();
  undo.push(() => running.close(), closingShare(opened, "exports"));
  const identities = createIdentities({ configuration, opened, people, clock });
  const unbound = operationsOn({
    configuration,
    opened,
    people,
    factors,
    identities,
    log,
    engine,
    exporter,
    recent: options.recent,
    clock,
    money: link.money,
    takeEffect: () => link.takeEffect(),
    // Known once the platform listens, and asked for only then.
    platformUrl: () => control.url,
    gateway: link.gateway,
  });
  const operationsOf = (actor: Actor) => forActor(unbound, { actor, clock });
  const control = openControl({
    configuration,
    opened,
    link,
    metricsText: async () => (await link.metricsText()) + toText(await exporter.readMetrics()),
    people,
    factors,
    identities,
    operations: unbound,
    liveEveryMs: options.liveEveryMs,
    version,
    certificate,
    clock,
    log,
  });
  undo.push(() => control.close(), closingShare(opened, "beside"));
  return {
    url: control.url,
    port: control.port,
    respond: control.respond,
    operations: operationsOf(serverStart),
    openSocket() {
      const socket = startControl(configuration.settings.dataDir, operationsOf(commandLine));
      undo.push(() => socket.close(), closingShare(opened, "beside"));
    },
  };
}

function toText(write: WriteMetrics | undefined): string {
  if (write === undefined) return "";
  const text = new Exposition();
  write(text);
  return text.text();
}

/** The pages that may call the gateway: where a public address is set, also those of this machine. */
export function pageOrigins(
  settings: Settings,
  { url, port }: Pick<PlatformRole, "url" | "port">,
): readonly string[] {
  const own = [url, ownPlatformUrl(settings, port), localhostPlatformUrl(settings, port)];
  return settings.corsOrigins ?? own;
}
