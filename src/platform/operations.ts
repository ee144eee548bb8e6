import type { ChangeFeed } from "../base/feed.ts";
import { type EntryOperations, entryOperations } from "./accounts/entries.ts";
import {
  type AccountOperations,
  type AccountParts,
  accountOperations,
} from "./accounts/operations.ts";
import { type BillingOperations, billingOperations } from "./billing/operations.ts";
import {
  type EngineOperations,
  engineOperations,
  type RunningEngine,
} from "./engine/operations.ts";
import {
  type GatewayOperations,
  type GatewayParts,
  gatewayOperations,
} from "./gateway/operations.ts";
import { type KeyOperations, type KeyParts, keyOperations } from "./keys/operations.ts";
import {
  type ManifestOperations,
  type ManifestParts,
  manifestOperations,
} from "./manifest/operations.ts";
import { type ModelOperations, modelOperations } from "./models/lifecycle.ts";
import {
  type CatalogOperations,
  type CatalogParts,
  catalogOperations,
} from "./models/operations.ts";
import {
  type OperatorOperations,
  operatorOperations,
  type PeopleOperations,
  type PeopleParts,
  peopleOperations,
} from "./people/operations.ts";
import { type PriceOperations, priceOperations } from "./prices/operations.ts";
import { type ConnectOperations, connectOperations } from "./providers/connect.ts";
import {
  type ProviderOperations,
  type ProviderParts,
  providerOperations,
} from "./providers/operations.ts";
import { type ReportOperations, reportOperations } from "./reports/operations.ts";

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
  readonly reports: ReportOperations;
  readonly gateway: GatewayOperations;
}

export interface OperationParts
  extends AccountParts,
    CatalogParts,
    GatewayParts,
    KeyParts,
    ManifestParts,
    PeopleParts,
    ProviderParts {
  readonly feed: ChangeFeed;
  readonly gateway?: GatewayParts["gateway"];
  readonly engine?: RunningEngine | undefined;
}

export function createOperations(parts: OperationParts): Operations {
  const providers = providerOperations(parts);
  return {
    accounts: accountOperations(parts),
    entries: entryOperations(parts),
    billing: billingOperations(parts),
    keys: keyOperations(parts),
    models: modelOperations(parts),
    catalog: catalogOperations(parts),
    prices: priceOperations(parts),
    providers: { ...providers, ...connectOperations(parts, providers) },
    manifest: manifestOperations(parts),
    engine: engineOperations(parts),
    operators: operatorOperations(parts),
    people: peopleOperations(parts),
    reports: reportOperations(parts),
    gateway: gatewayOperations(parts),
  };
}
