import type { ChangeFeed } from "../base/feed.ts";
import { Mutex } from "../base/mutex.ts";
import type { FleetStore } from "../fleet/store.ts";
import { entryAudits, entryOperations } from "./accounts/entries.ts";
import {
  type AccountDependencies,
  accountAudits,
  accountOperations,
} from "./accounts/operations.ts";
import { type Binding, type Bound, bind } from "./audit/author.ts";
import { billingAudits, billingOperations } from "./billing/operations.ts";
import { type CallDependencies, callAudits, callOperations } from "./calls/operations.ts";
import { engineAudits, engineOperations, type RunningEngine } from "./engine/operations.ts";
import { type ExportDependencies, exportAudits, exportOperations } from "./exports/operations.ts";
import { type FactorDependencies, factorAudits, factorOperations } from "./factors/operations.ts";
import {
  type GatewayDependencies,
  gatewayAudits,
  gatewayOperations,
} from "./gateway/operations.ts";
import {
  type IdentityDependencies,
  identityAudits,
  identityOperations,
} from "./identity/operations.ts";
import { type KeyDependencies, keyAudits, keyOperations } from "./keys/operations.ts";
import { type LogDependencies, logAudits, logOperations } from "./logs/operations.ts";
import type { CatalogChangeDependencies } from "./manifest/change.ts";
import { manifestAudits, manifestOperations } from "./manifest/operations.ts";
import { memberAudits, memberOperations } from "./members/operations.ts";
import { modelAudits, modelOperations } from "./models/lifecycle.ts";
import type { NameDependencies } from "./models/names.ts";
import { catalogAudits, catalogOperations } from "./models/operations.ts";
import type { ModelDependencies } from "./models/views.ts";
import { type NodeDependencies, nodeAudits, nodeOperations } from "./nodes/operations.ts";
import {
  operatorAudits,
  operatorOperations,
  type PeopleDependencies,
  peopleAudits,
  peopleOperations,
} from "./people/operations.ts";
import { priceAudits, priceOperations } from "./prices/operations.ts";
import { connectAudits, connectOperations } from "./providers/connect.ts";
import { providerKeyAudits, providerKeyOperations } from "./providers/keys.ts";
import {
  type ProviderDependencies,
  providerAudits,
  providerOperations,
} from "./providers/operations.ts";
import { reportAudits, reportOperations } from "./reports/operations.ts";
import {
  type ResponseDependencies,
  responseAudits,
  responseOperations,
} from "./responses/operations.ts";
import { type SecretDependencies, secretAudits, secretOperations } from "./secrets/operations.ts";
import { sessionAudits, sessionOperations } from "./session/operations.ts";
import { tokenAudits, tokenOperations } from "./tokens/operations.ts";

import { viewAudits, viewOperations } from "./views/operations.ts";

export interface OperationDependencies
  extends AccountDependencies,
    ModelDependencies,
    Pick<NameDependencies, "engineFile">,
    GatewayDependencies,
    CallDependencies,
    ExportDependencies,
    FactorDependencies,
    IdentityDependencies,
    KeyDependencies,
    LogDependencies,
    Omit<CatalogChangeDependencies, "mutex">,
    NodeDependencies,
    PeopleDependencies,
    ProviderDependencies,
    ResponseDependencies,
    Omit<SecretDependencies, "fleet"> {
  readonly feed: ChangeFeed;
  readonly gateway?: GatewayDependencies["gateway"];
  readonly engine?: RunningEngine | undefined;
  readonly fleet?: Pick<FleetStore, "nodes" | "setDraining" | "wantReports"> | undefined;
}

type Dependencies = OperationDependencies & CatalogChangeDependencies;

function allProviderOperations(dependencies: Dependencies) {
  const providers = providerOperations(dependencies);
  return {
    ...providers,
    ...connectOperations(dependencies, providers),
    ...providerKeyOperations(dependencies),
  };
}

/** Every resource: its audit actions and its operations. */
export const resources = {
  accounts: [accountAudits, accountOperations],
  entries: [entryAudits, entryOperations],
  billing: [billingAudits, billingOperations],
  keys: [keyAudits, keyOperations],
  models: [modelAudits, modelOperations],
  catalog: [catalogAudits, catalogOperations],
  prices: [priceAudits, priceOperations],
  providers: [{ ...providerAudits, ...connectAudits, ...providerKeyAudits }, allProviderOperations],
  logs: [logAudits, logOperations],
  manifest: [manifestAudits, manifestOperations],
  engine: [engineAudits, engineOperations],
  operators: [operatorAudits, operatorOperations],
  people: [peopleAudits, peopleOperations],
  members: [memberAudits, memberOperations],
  factors: [factorAudits, factorOperations],
  identities: [identityAudits, identityOperations],
  sessions: [sessionAudits, sessionOperations],
  tokens: [tokenAudits, tokenOperations],
  views: [viewAudits, viewOperations],
  reports: [reportAudits, reportOperations],
  responses: [responseAudits, responseOperations],
  calls: [callAudits, callOperations],
  gateway: [gatewayAudits, gatewayOperations],
  nodes: [nodeAudits, nodeOperations],
  secrets: [secretAudits, secretOperations],
  exports: [exportAudits, exportOperations],
} as const;
type Resources = typeof resources;

/** Not bound to an actor yet; see `forActor`. */
export type UnboundOperations = {
  readonly [Resource in keyof Resources]: ReturnType<Resources[Resource][1]>;
};

/**
 * What the operator can do, by resource. The same object serves a command that opened the store
 * itself and one that asks the running server; inputs and results are plain JSON for that reason.
 */
export type Operations = {
  readonly [Resource in keyof Resources]: Bound<UnboundOperations[Resource]>;
};

export function createOperations(given: OperationDependencies): UnboundOperations {
  const dependencies: Dependencies = { ...given, mutex: new Mutex() };
  const created = Object.entries(resources).map(([name, [, create]]) => [
    name,
    create(dependencies),
  ]);
  return Object.fromEntries(created) as UnboundOperations;
}

/** Changes of these may revoke access. */
const rights = new Set<string>([
  "operators",
  "people",
  "members",
  "factors",
  "identities",
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
    const [audits] = resources[resource as keyof Operations];
    return [resource, bind(methods, audits, { ...binding, after })];
  });
  return Object.fromEntries(bound) as Operations;
}
