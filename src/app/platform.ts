import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import { trustedProxies } from "../base/network/client-address.ts";
import { ownPlatformUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import type { Factors } from "../people/factors/factors.ts";
import type { Identities } from "../people/identity/identities.ts";
import { Invites } from "../people/invites.ts";
import type { People } from "../people/people.ts";
import { SessionSecrets } from "../people/session-secrets.ts";
import { Tokens } from "../people/tokens.ts";
import { extendContext } from "../platform/context.ts";
import { Api } from "../platform/http/api.ts";
import { Live } from "../platform/live/live.ts";
import type { UnboundOperations } from "../platform/operations.ts";
import { routes } from "../platform/routes.ts";
import { type Respond, startPlatform } from "../platform/server.ts";
import { createSite } from "../platform/site/site.ts";
import { readChanges } from "../wire/changes.ts";
import type { GatewayLink } from "./gateway-link.ts";
import type { Opened } from "./opened.ts";

export interface ControlOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly link: GatewayLink;
  readonly metricsText: () => Promise<string>;
  readonly operations: UnboundOperations;
  readonly people: People;
  readonly factors: Factors;
  readonly identities: Identities | undefined;
  readonly version: string;
  /** Undefined where SVC_TLS_CERT is not set. */
  readonly certificate: ListenerCertificate | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** How often open pages hear of new calls; undefined: the usual. */
  readonly liveEveryMs: number | undefined;
}

/** Where console/build.ts puts it. */
const consoleDist = join(import.meta.dir, "..", "..", "console", "dist");

/** How often expired entries are deleted. */
const eraseEveryMs = 3_600_000;

/** The control plane of a running server: who may come in, the API, the console. */
export function openControl(options: ControlOptions): {
  readonly url: string;
  readonly port: number;
  readonly respond: Respond;
  close(): Promise<void>;
} {
  const { configuration, opened, link, operations, people, factors, version, clock, log } = options;
  const gatewayUrl = link.publicUrl;
  const { settings, inForce } = configuration;
  const { people: store, audit, accounts, keys, catalog } = opened.store;
  const tokens = new Tokens(store, clock);
  const live = new Live({ ...link.live, everyMs: options.liveEveryMs });
  const url = () => settings.platformUrl ?? ownPlatformUrl(settings, platform.port);
  const dependencies = {
    operations,
    audit,
    people,
    factors,
    identities: options.identities,
    invites: new Invites(people),
    sessionSecrets: new SessionSecrets(opened.secrets.sessionKey),
    tokens,
    accounts,
    keys,
    catalog,
    reports: link.reports,
    live,
    clock,
    log,
    sendsMail: settings.smtpUrl !== undefined,
    version,
    gatewayUrl: () => gatewayUrl,
    platformUrl: url,
    settings: inForce,
  };
  const api = new Api({ dependencies, routes, extend: extendContext(dependencies) });
  const site = createSite({
    dist: consoleDist,
    gatewayUrl: () => gatewayUrl,
    isHttps: () => url().startsWith("https:"),
  });
  const platform = startPlatform({
    host: settings.platformHost,
    port: settings.platformPort,
    certificate: options.certificate,
    publicUrl: settings.platformUrl,
    trustedProxies: trustedProxies(settings.trustedProxies ?? []),
    version,
    gatewayUrl,
    changes: readChanges(),
    api,
    site,
    tokens,
    metrics: { access: settings.metricsAccess, text: options.metricsText },
  });
  const erase = () =>
    void store
      .eraseExpired(clock.nowMs())
      .catch((error: unknown) => log.warn("cannot delete old sessions", { detail: String(error) }));
  const timer = setInterval(erase, eraseEveryMs);
  timer.unref();
  erase();
  return {
    url: url(),
    port: platform.port,
    respond: platform.respond,
    async close() {
      clearInterval(timer);
      live.close();
      await platform.close();
    },
  };
}
