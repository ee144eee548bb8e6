import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ListenerCertificate } from "../base/network/certificate-source.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { ownGatewayUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import type { FleetNode } from "../fleet/node.ts";
import type { ActiveCalls } from "../gateway/active-calls.ts";
import { type Billing, LedgerBilling } from "../gateway/billing/billing.ts";
import { orUnavailable } from "../gateway/billing/refusals.ts";
import type { RejectionLog } from "../gateway/failures.ts";
import { Idempotency } from "../gateway/idempotency.ts";
import { BodyBytes } from "../gateway/request/body-bytes.ts";
import { type GatewayServer, startGateway } from "../gateway/server.ts";
import type { Tracing } from "../gateway/tracing.ts";
import type { ApiVersion } from "../gateway/versions.ts";
import type { KeyDirectory } from "../keys/directory.ts";
import type { CallResponseStore, ResponseStore } from "../responses/response.ts";
import { StoredResponses } from "../responses/stored-responses.ts";
import type { Router } from "../router/router.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { creditAdvice } from "./first-start.ts";
import type { Money } from "./ledger.ts";
import type { Opened } from "./opened.ts";

interface GatewayOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly state: {
    readonly keys: KeyDirectory;
    readonly catalog: Catalog;
    readonly router: Router;
    /** Origins whose pages may read replies. */
    readonly origins: ReadonlySet<string>;
  };
  readonly calls: ActiveCalls;
  readonly versions: readonly ApiVersion[];
  readonly billing: Billing | undefined;
  readonly rejections: RejectionLog | undefined;
  readonly money: Money;
  readonly metrics: Metrics;
  readonly sharesPort: boolean;
  readonly certificate: ListenerCertificate | undefined;
  readonly gate: FleetNode | undefined;
  readonly tracing: Tracing | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The data plane of a running server. */
export function listenGateway({
  configuration,
  opened,
  state,
  calls,
  versions,
  money,
  metrics,
  sharesPort,
  certificate,
  gate,
  tracing,
  clock,
  log,
  billing = new LedgerBilling({ ...money, clock, log, creditAdvice }),
  rejections = money.rejections,
}: GatewayOptions): GatewayServer {
  const { settings } = configuration;
  const { keys, catalog, router, origins } = state;
  const dependencies = {
    keys,
    catalog,
    router,
    calls,
    ...money,
    billing,
    rejections,
    responses: storedResponses({ configuration, opened, clock }),
    idempotency: new Idempotency({ ledger: opened.store.ledger, journal: money.journal }),
    bodies: new BodyBytes({ perProcess: settings.maxBodiesMb * 1024 * 1024 }),
    clock,
    log,
    replyCounter: metrics.traffic,
    origins,
    gate,
    tracing,
    publicUrl: () => settings.publicUrl ?? ownGatewayUrl(settings, gateway.port),
  };
  const gateway: GatewayServer = startGateway({
    dependencies,
    versions,
    host: settings.host,
    port: settings.port,
    sharesPort,
    certificate,
    drainMs: settings.drainMs,
    checkReady: async () => {
      if (money.journal.isFailing) throw new Error("the ledger cannot be written");
      if (gate === undefined) return opened.store.check();
      if (!gate.isReady()) throw new Error("the database does not answer");
    },
  });
  return gateway;
}

/** A call that cannot read what was stored may be repeated. `save` reports its failures itself. */
const responsesOfCalls = (store: ResponseStore): CallResponseStore => ({
  save: (response, accountBytes) => store.save(response, accountBytes),
  find: (query) => orUnavailable(store.find(query)),
  findItems: (query) => orUnavailable(store.findItems(query)),
  chain: (query) => orUnavailable(store.chain(query)),
  remove: (query) => orUnavailable(store.remove(query)),
});

const dayMs = 86_400_000;

function storedResponses({
  configuration: { settings },
  opened: { store, secrets },
  clock,
}: Pick<GatewayOptions, "configuration" | "opened" | "clock">): StoredResponses | undefined {
  if (settings.storeResponses === "off") return undefined;
  return new StoredResponses({
    store: responsesOfCalls(store.responses),
    sealer: secrets.responses,
    clock,
    keptMs: settings.storedResponsesDays * dayMs,
    accountBytes: settings.storedResponsesMb * 1024 * 1024,
  });
}
