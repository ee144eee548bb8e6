import type { ChangeFeed } from "../base/feed.ts";
import { Mutex } from "../base/mutex.ts";
import { type EntryOperations, entryAudits, entryOperations } from "./accounts/entries.ts";
import {
  type AccountDependencies,
  type AccountOperations,
  accountAudits,
  accountOperations,
} from "./accounts/operations.ts";
import { type Audits, type Binding, bind, type Unbound } from "./audit/author.ts";
import { type BillingOperations, billingAudits, billingOperations } from "./billing/operations.ts";
import {
  type EngineOperations,
  engineAudits,
  engineOperations,
  type RunningEngine,
} from "./engine/operations.ts";
import {
  type GatewayDependencies,
  type GatewayOperations,
  gatewayAudits,
  gatewayOperations,
} from "./gateway/operations.ts";
import {
  type KeyDependencies,
  type KeyOperations,
  keyAudits,
  keyOperations,
} from "./keys/operations.ts";
import type { CatalogChangeDependencies } from "./manifest/change.ts";
import {
  type ManifestOperations,
  manifestAudits,
  manifestOperations,
} from "./manifest/operations.ts";
import { type MemberOperations, memberAudits, memberOperations } from "./members/operations.ts";
import { type ModelOperations, modelAudits, modelOperations } from "./models/lifecycle.ts";
import { type CatalogOperations, catalogAudits, catalogOperations } from "./models/operations.ts";
import type { ModelDependencies } from "./models/views.ts";
import {
  type OperatorOperations,
  operatorAudits,
  operatorOperations,
  type PeopleDependencies,
  type PeopleOperations,
  peopleAudits,
  peopleOperations,
} from "./people/operations.ts";
import { type PriceOperations, priceAudits, priceOperations } from "./prices/operations.ts";
import { type ConnectOperations, connectAudits, connectOperations } from "./providers/connect.ts";
import {
  type ProviderDependencies,
  type ProviderOperations,
  providerAudits,
  providerOperations,
} from "./providers/operations.ts";
import { type ReportOperations, reportAudits, reportOperations } from "./reports/operations.ts";
import { type SessionOperations, sessionAudits, sessionOperations } from "./session/operations.ts";
import { type TokenOperations, tokenAudits, tokenOperations } from "./tokens/operations.ts";

/**
 * What the operator can do, by resource. The same object serves a command that opened the store
 * itself and one that asks the running server; inputs and results are plain JSON for that reason.
 */
export interface Operations {
  readonly accounts: AccountOperations;
  readonly entries: EntryOperations;
  readonly billing: BillingOperations;
  readonly keys: KeyOperations;
  readonly models: ModelOperations;
  readonly catalog: CatalogOperations;
  readonly prices: PriceOperations;
  readonly providers: ProviderOperations & ConnectOperations;
  readonly manifest: ManifestOperations;
  readonly engine: EngineOperations;
  readonly operators: OperatorOperations;
  readonly people: PeopleOperations;
  readonly members: MemberOperations;
  readonly sessions: SessionOperations;
  readonly tokens: TokenOperations;
  readonly reports: ReportOperations;
  readonly gateway: GatewayOperations;
}

/** How the audit log has every change. A resource or an operation that is not in it does not compile. */
export const audits = {
  accounts: accountAudits,
  entries: entryAudits,
  billing: billingAudits,
  keys: keyAudits,
  models: modelAudits,
  catalog: catalogAudits,
  prices: priceAudits,
  providers: { ...providerAudits, ...connectAudits },
  manifest: manifestAudits,
  engine: engineAudits,
  operators: operatorAudits,
  people: peopleAudits,
  members: memberAudits,
  sessions: sessionAudits,
  tokens: tokenAudits,
  reports: reportAudits,
  gateway: gatewayAudits,
} satisfies { readonly [Resource in keyof Operations]: Audits<Operations[Resource]> };

/** Nobody's yet: `forActor` says who uses them. */
export type UnboundOperations = {
  readonly [Resource in keyof Operations]: Unbound<Operations[Resource], (typeof audits)[Resource]>;
};

export interface OperationDependencies
  extends AccountDependencies,
    ModelDependencies,
    GatewayDependencies,
    KeyDependencies,
    Omit<CatalogChangeDependencies, "mutex">,
    PeopleDependencies,
    ProviderDependencies {
  readonly feed: ChangeFeed;
  readonly gateway?: GatewayDependencies["gateway"];
  readonly engine?: RunningEngine | undefined;
}

export function createOperations(given: OperationDependencies): UnboundOperations {
  const dependencies = { ...given, mutex: new Mutex() };
  const providers = providerOperations(dependencies);
  return {
    accounts: accountOperations(dependencies),
    entries: entryOperations(dependencies),
    billing: billingOperations(dependencies),
    keys: keyOperations(dependencies),
    models: modelOperations(dependencies),
    catalog: catalogOperations(dependencies),
    prices: priceOperations(dependencies),
    providers: { ...providers, ...connectOperations(dependencies, providers) },
    manifest: manifestOperations(dependencies),
    engine: engineOperations(dependencies),
    operators: operatorOperations(dependencies),
    people: peopleOperations(dependencies),
    members: memberOperations(dependencies),
    sessions: sessionOperations(dependencies),
    tokens: tokenOperations(dependencies),
    reports: reportOperations(dependencies),
    gateway: gatewayOperations(dependencies),
  };
}

/** Changes of these may end what somebody is allowed to see. */
const rights = new Set<string>([
  "operators",
  "people",
  "members",
  "sessions",
  "tokens",
] satisfies (keyof Operations)[]);

/** The operations as routes, the control socket and commands use them. */
export function forActor(
  operations: UnboundOperations,
  binding: Binding & { readonly onRightsChanged?: () => Promise<void> },
): Operations {
  const { onRightsChanged } = binding;
  const bound = Object.entries(operations).map(([resource, methods]) => {
    const after = rights.has(resource) ? onRightsChanged : undefined;
    return [resource, bind(methods, audits[resource as keyof Operations], { ...binding, after })];
  });
  return Object.fromEntries(bound) as Operations;
}
