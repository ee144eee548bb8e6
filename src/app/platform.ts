import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { trustedProxies } from "../base/network/client-address.ts";
import type { Configuration } from "../config/load.ts";
import { Invites } from "../people/invites.ts";
import { People } from "../people/people.ts";
import { SessionSecrets } from "../people/session-secrets.ts";
import { Tokens } from "../people/tokens.ts";
import { Api } from "../platform/http/api.ts";
import { Live } from "../platform/live/live.ts";
import type { Operations } from "../platform/operations.ts";
import { routes } from "../platform/routes.ts";
import { startPlatform } from "../platform/server.ts";
import { createSite } from "../platform/site/site.ts";
import { readChanges } from "../wire/changes.ts";
import type { Money } from "./ledger.ts";
import type { Opened } from "./store.ts";

export interface ControlOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly money: Money;
  readonly operations: Operations;
  /** As callers see it; without /v1. */
  readonly gatewayUrl: string;
  /** An address of a listener that can be used on this machine. */
  readonly toUrl: (host: string, port: number) => string;
  readonly metricsText: () => string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where console/build.ts puts it. */
const consoleDist = join(import.meta.dir, "..", "..", "console", "dist");

/** What is past its time is erased so often. */
const eraseEveryMs = 3_600_000;

/** The control plane of a running server: who may come in, the API, the console. */
export function openControl(options: ControlOptions): {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
} {
  const { configuration, opened, money, operations, gatewayUrl, version, clock, log } = options;
  const { settings, inForce } = configuration;
  const { people: store, accounts, catalog } = opened.store;
  const people = new People(store, clock);
  const tokens = new Tokens(store, clock);
  const live = new Live({ watchers: money.receiptWatchers });
  const url = () => settings.platformUrl ?? options.toUrl(settings.platformHost, platform.port);
  const api = new Api(
    {
      operations,
      people,
      invites: new Invites(people),
      sessionSecrets: new SessionSecrets(opened.secrets.sessionKey),
      tokens,
      accounts,
      catalog,
      reports: money.reports,
      live,
      clock,
      log,
      version,
      gatewayUrl: () => gatewayUrl,
      platformUrl: url,
      settings: inForce,
    },
    routes,
  );
  const site = createSite({
    dist: consoleDist,
    gatewayUrl: () => gatewayUrl,
    isHttps: () => url().startsWith("https:"),
  });
  const platform = startPlatform({
    host: settings.platformHost,
    port: settings.platformPort,
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
      .catch((error: unknown) =>
        log.warn("old sessions cannot be erased", { detail: String(error) }),
      );
  const timer = setInterval(erase, eraseEveryMs);
  timer.unref();
  erase();
  return {
    url: url(),
    port: platform.port,
    async close() {
      clearInterval(timer);
      live.close();
      await platform.close();
    },
  };
}
