import type { ChangeFeed } from "../base/feed.ts";
import { createTurns } from "../base/mutex.ts";
import { Problem } from "../base/problem.ts";
import { Catalog, deprecate, retire } from "../catalog/catalog.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { isServed, type Model, type Route, withRoutes } from "../catalog/model.ts";
import type { TemporaryKey } from "../keys/directory.ts";
import type { Account, AccountStore } from "../ledger/account.ts";
import type { AddressCheck } from "../manifest/read-provider.ts";
import { type MoneyOperations, moneyOperations } from "./accounts/entries.ts";
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
import { findAccount, futureDate } from "./inputs.ts";
import { type KeyOperations, type KeyParts, keyOperations } from "./keys/operations.ts";
import { type ManifestOperations, manifestOperations } from "./manifest/operations.ts";
import { type ModelChangeOperations, modelChangeOperations } from "./models/changes.ts";
import { type LifecycleOperations, lifecycleOperations } from "./models/lifecycle.ts";
import { type CatalogOperations, catalogOperations } from "./models/operations.ts";
import { type PeopleOperations, type PeopleParts, peopleOperations } from "./people/operations.ts";
import { type PriceOperations, priceOperations } from "./prices/operations.ts";
import { type ConnectOperations, connectOperations } from "./providers/connect.ts";
import {
  type ProviderOperations,
  providerOperations,
  type Upstreams,
} from "./providers/operations.ts";
import { type ReportOperations, reportOperations } from "./reports/operations.ts";
import { type ModelView, type TemporaryKeyView, toModelView, toTemporaryKeyView } from "./views.ts";

/**
 * What the operator can do. The same object serves a command that opened the store itself and one
 * that asks the running server; inputs and results are plain JSON for that reason.
 */
export interface Operations
  extends AccountOperations,
    BillingOperations,
    CatalogOperations,
    ConnectOperations,
    EngineOperations,
    KeyOperations,
    LifecycleOperations,
    ManifestOperations,
    ModelChangeOperations,
    MoneyOperations,
    PeopleOperations,
    PriceOperations,
    ProviderOperations,
    ReportOperations {
  /** Asks whether a server answers, and nothing else. */
  ping(input: Record<never, never>): Promise<{ readonly ok: true }>;
  /** A key for calls from the command line; only a running server has a use for one. */
  createTemporaryKey(input: { account?: string; owner?: string }): Promise<TemporaryKeyView>;
  /** Those that somebody has made: their part in an account has ended. */
  endTemporaryKeys(input: { owner: string }): Promise<{ readonly ended: number }>;
  /** Where the running server's gateway answers callers on this machine. */
  showGateway(input: Record<never, never>): Promise<{ readonly base_url: string }>;
  listModels(input: Record<never, never>): Promise<readonly ModelView[]>;
  deprecateModel(input: {
    id: string;
    from?: string;
    retires: string;
    replacement: string;
  }): Promise<ModelView>;
  retireModel(input: { id: string }): Promise<ModelView>;
}

/** What a running server adds: without one there is nobody to call. */
export interface RunningGateway {
  /** Of the targets that were asked since the start. */
  health(): readonly TargetHealth[];
  /** Puts a provider's targets back in service; says how many it knows. */
  resetHealth(provider: string, model?: string): number;
  issueTemporaryKey(accountId: string, owner?: string): TemporaryKey;
  endTemporaryKeys(owner: string): number;
  /** Ends in /v1. */
  baseUrl(): string;
}

export interface OperationParts extends AccountParts, KeyParts, PeopleParts {
  readonly feed: ChangeFeed;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  /** Whether a route's provider is there: that of the embedded models may be switched off. */
  readonly isUsable: (route: Route) => boolean;
  /** Where a gateway was looked for. */
  readonly dataDir?: string | undefined;
  /** Absent when a command has opened the store itself. */
  readonly gateway?: RunningGateway | undefined;
  readonly engine?: RunningEngine | undefined;
  /** The way to providers, to try them out. */
  readonly upstreams?: (() => Promise<Upstreams>) | undefined;
}

export function createOperations(given: OperationParts): Operations {
  const parts = { ...given, inTurn: createTurns() };
  const providers = providerOperations(parts);
  const manifest = manifestOperations(parts);
  return {
    ping: async () => ({ ok: true }),
    ...accountOperations(parts),
    ...billingOperations(parts),
    ...catalogOperations(parts),
    ...connectOperations(parts, { ...providers, ...manifest }),
    ...engineOperations(parts),
    ...keyOperations(parts),
    ...lifecycleOperations(parts),
    ...manifest,
    ...modelChangeOperations(parts),
    ...moneyOperations(parts),
    ...peopleOperations(parts),
    ...priceOperations(parts),
    ...providers,
    ...reportOperations(parts),
    ...gatewayOperations(parts),
    ...modelOperations(parts),
  };
}

function gatewayOperations({ accounts, gateway, dataDir }: OperationParts) {
  const running = () => {
    if (gateway === undefined)
      throw new Problem({
        code: "failed",
        message: `The gateway does not run: start it with npm start (or svc serve).${dataDir === undefined ? "" : ` It was looked for in ${dataDir}: if its data are elsewhere, set SVC_DATA_DIR here too.`}`,
      });
    return gateway;
  };
  return {
    async createTemporaryKey({ account: name, owner }: { account?: string; owner?: string }) {
      const server = running();
      const account =
        name === undefined ? await usualAccount(accounts) : await findAccount(accounts, name);
      return toTemporaryKeyView({
        ...server.issueTemporaryKey(account.id, owner),
        accountId: account.id,
        baseUrl: server.baseUrl(),
      });
    },
    async endTemporaryKeys({ owner }: { owner: string }) {
      return { ended: gateway?.endTemporaryKeys(owner) ?? 0 };
    },
    async showGateway() {
      return { base_url: running().baseUrl() };
    },
  } satisfies Partial<Operations>;
}

function modelOperations({ catalog: store, clock, isUsable, takeEffect }: OperationParts) {
  const view = (model: Model, nowMs: number) =>
    toModelView({ model, isServed: isServed(withRoutes(model, isUsable), nowMs), nowMs });
  const load = async () => {
    const catalog = new Catalog(store);
    await catalog.reload();
    return catalog;
  };
  return {
    async listModels() {
      const { models } = await store.load();
      const nowMs = clock.nowMs();
      return models.map((model) => view(model, nowMs));
    },
    async deprecateModel({
      id,
      from,
      retires,
      replacement,
    }: Parameters<Operations["deprecateModel"]>[0]) {
      const nowMs = clock.nowMs();
      const retiresAtMs = futureDate({ text: retires, flag: "--retires", nowMs });
      const fromMs =
        from === undefined ? undefined : futureDate({ text: from, flag: "--from", nowMs });
      const catalog = await load();
      const model = deprecate({ catalog, id, fromMs, retiresAtMs, replacement, nowMs });
      await store.write({ atMs: nowMs, saveModels: [model] });
      await takeEffect();
      return view(model, nowMs);
    },
    async retireModel({ id }: { id: string }) {
      const nowMs = clock.nowMs();
      const model = retire({ catalog: await load(), id, nowMs });
      await store.write({ atMs: nowMs, saveModels: [model] });
      await takeEffect();
      return view(model, nowMs);
    },
  } satisfies Partial<Operations>;
}

/** The account that is meant where none is named. */
async function usualAccount(accounts: AccountStore): Promise<Account> {
  const all = await accounts.list();
  const account = all.find(({ name }) => name === "default") ?? all[0];
  if (account === undefined)
    throw new Problem({
      code: "not_found",
      message: "There is no account yet: svc account create NAME makes one.",
    });
  if (all.length > 1 && account.name !== "default")
    throw new Problem({
      code: "invalid",
      message: `Say with --account which of the ${all.length} accounts pays; svc account list shows them.`,
    });
  return account;
}
