import type { Clock } from "../base/clock.ts";
import { fromDateText } from "../base/dates.ts";
import type { ChangeFeed } from "../base/feed.ts";
import { newId } from "../base/ids.ts";
import { Problem } from "../base/problem.ts";
import { Catalog, type CatalogStore, deprecate, retire } from "../catalog/catalog.ts";
import { isServed, type Model, type Route, withRoutes } from "../catalog/model.ts";
import type { KeyRecord, KeyStore, TemporaryKey } from "../keys/directory.ts";
import { hashKeySecret, keyHint, newKeySecret } from "../keys/secret.ts";
import type { Account, AccountStore } from "../ledger/account.ts";
import { exportManifest } from "../manifest/export.ts";
import { type AddressCheck, readManifest } from "../manifest/manifest.ts";
import { type Difference, planApply } from "../manifest/plan.ts";
import type { Secrets } from "../secrets/secrets.ts";
import {
  type AccountView,
  type KeyView,
  type ModelView,
  type NewKeyView,
  type TemporaryKeyView,
  toAccountView,
  toKeyView,
  toModelView,
  toTemporaryKeyView,
} from "./views.ts";

export interface ApplyView {
  readonly differences: readonly Difference[];
  readonly warnings: readonly string[];
  readonly applied: boolean;
}

/**
 * What the operator can do. The same object serves a command that opened the store itself and one
 * that asks the running server; inputs and results are plain JSON for that reason.
 */
export interface Operations {
  createAccount(input: { name: string }): Promise<AccountView>;
  listAccounts(input: Record<never, never>): Promise<readonly AccountView[]>;
  showAccount(input: {
    account: string;
  }): Promise<AccountView & { readonly key_list: readonly KeyView[] }>;
  createKey(input: {
    account: string;
    name?: string;
    models?: readonly string[];
    expires?: string;
  }): Promise<NewKeyView>;
  listKeys(input: { account?: string }): Promise<readonly KeyView[]>;
  revokeKey(input: { id: string }): Promise<KeyView>;
  /** A key for calls from the command line; only a running server has a use for one. */
  createTemporaryKey(input: { account?: string }): Promise<TemporaryKeyView>;
  /** Where the running server's gateway answers callers on this machine. */
  showGateway(input: Record<never, never>): Promise<{ readonly base_url: string }>;
  /** The process of the embedded models; null where none is kept. */
  showEngine(input: Record<never, never>): Promise<RunningEngineView | null>;
  listModels(input: Record<never, never>): Promise<readonly ModelView[]>;
  deprecateModel(input: {
    id: string;
    from?: string;
    retires: string;
    replacement: string;
  }): Promise<ModelView>;
  retireModel(input: { id: string }): Promise<ModelView>;
  applyManifest(input: { text: string; dryRun: boolean; isOwnFile?: boolean }): Promise<ApplyView>;
  exportManifest(input: Record<never, never>): Promise<{ readonly yaml: string }>;
}

/** What a running server adds: without one there is nobody to call. */
export interface RunningGateway {
  issueTemporaryKey(accountId: string): TemporaryKey;
  /** Ends in /v1. */
  baseUrl(): string;
}

export interface OperationParts {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly catalog: CatalogStore;
  readonly feed: ChangeFeed;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  /** Whether a route's provider is there: that of the embedded models may be switched off. */
  readonly isUsable: (route: Route) => boolean;
  /** Resolves when what was just written is in force in this process. */
  readonly takeEffect: () => Promise<void>;
  /** Absent when a command has opened the store itself. */
  readonly gateway?: RunningGateway | undefined;
  readonly engine?: RunningEngine | undefined;
}

export interface RunningEngine {
  view(): Promise<RunningEngineView>;
}

export interface RunningEngineView {
  readonly state: string;
  readonly pid: number | null;
  readonly problem: string | null;
  readonly models: readonly {
    readonly name: string;
    readonly state: string;
    readonly pid: number | null;
    readonly active: number;
    readonly waiting: number;
  }[];
}

export function createOperations(parts: OperationParts): Operations {
  return {
    ...accountOperations(parts),
    ...keyOperations(parts),
    ...gatewayOperations(parts),
    showEngine: async () => (await parts.engine?.view()) ?? null,
    ...modelOperations(parts),
    ...manifestOperations(parts),
  };
}

function accountOperations({ accounts, keys, clock, takeEffect }: OperationParts) {
  const activeKeys = async (id: string) => {
    const nowMs = clock.nowMs();
    return (await keys.all())
      .filter(({ accountId }) => accountId === id)
      .map((record) => toKeyView(record, nowMs));
  };
  return {
    async createAccount({ name }: { name: string }) {
      if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u.test(name))
        throw new Problem(
          "invalid",
          "The account's name must be 1 to 100 letters, digits, spaces or . _ @ -, and begin with a letter or digit.",
        );
      const account: Account = { id: newId("acct"), name, createdAtMs: clock.nowMs() };
      if (!(await accounts.insert(account)))
        throw new Problem("conflict", `There is an account named ${name} already.`);
      await takeEffect();
      return toAccountView(account, 0);
    },
    async listAccounts() {
      const all = await keys.all();
      const countOf = (id: string) =>
        all.filter(({ accountId, revokedAtMs }) => accountId === id && revokedAtMs === undefined)
          .length;
      return (await accounts.list()).map((account) => toAccountView(account, countOf(account.id)));
    },
    async showAccount({ account: name }: { account: string }) {
      const account = await findAccount(accounts, name);
      const list = await activeKeys(account.id);
      return {
        ...toAccountView(account, list.filter(({ status }) => status !== "revoked").length),
        key_list: list,
      };
    },
  } satisfies Partial<Operations>;
}

function keyOperations({ accounts, keys, catalog, secrets, clock, takeEffect }: OperationParts) {
  return {
    async createKey({
      account: accountName,
      name = "",
      models,
      expires,
    }: Parameters<Operations["createKey"]>[0]) {
      const account = await findAccount(accounts, accountName);
      const nowMs = clock.nowMs();
      const expiresAtMs =
        expires === undefined ? undefined : futureDate({ text: expires, flag: "--expires", nowMs });
      if (models !== undefined && (models.length === 0 || models.some((id) => id === "")))
        throw new Problem("invalid", "--models needs model ids, separated by commas.");
      if (name.length > 100)
        throw new Problem("invalid", "The key's name must have at most 100 characters.");
      const secret = newKeySecret();
      const record: KeyRecord = {
        id: newId("key"),
        accountId: account.id,
        name,
        hash: hashKeySecret(secret, secrets.keyHashKey),
        hint: keyHint(secret),
        ...(models === undefined ? {} : { models: new Set(models) }),
        createdAtMs: nowMs,
        ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
      };
      await keys.insert(record);
      await takeEffect();
      const known = new Set((await catalog.load()).models.map(({ id }) => id));
      const warnings = (models ?? [])
        .filter((id) => !known.has(id))
        .map((id) => `there is no model ${id} yet: this key may call it once there is`);
      return { ...toKeyView(record, nowMs), key: secret, warnings };
    },
    async listKeys({ account: accountName }: { account?: string }) {
      const account =
        accountName === undefined ? undefined : await findAccount(accounts, accountName);
      const nowMs = clock.nowMs();
      const records = await keys.all();
      return records
        .filter(({ accountId }) => account === undefined || accountId === account.id)
        .map((record) => toKeyView(record, nowMs));
    },
    async revokeKey({ id }: { id: string }) {
      const nowMs = clock.nowMs();
      const isKnown = await keys.revoke(id, nowMs);
      const record = isKnown ? await keys.get(id) : undefined;
      if (record === undefined)
        throw new Problem(
          "not_found",
          `There is no key with the id ${id}; ./svc key list shows those there are.`,
        );
      await takeEffect();
      return toKeyView(record, nowMs);
    },
  } satisfies Partial<Operations>;
}

function gatewayOperations({ accounts, gateway }: OperationParts) {
  const running = () => {
    if (gateway === undefined)
      throw new Problem(
        "failed",
        "The gateway does not run: start it with npm start (or svc serve).",
      );
    return gateway;
  };
  return {
    async createTemporaryKey({ account: name }: { account?: string }) {
      const server = running();
      const account =
        name === undefined ? await usualAccount(accounts) : await findAccount(accounts, name);
      return toTemporaryKeyView({
        ...server.issueTemporaryKey(account.id),
        accountId: account.id,
        baseUrl: server.baseUrl(),
      });
    },
    async showGateway() {
      return { base_url: running().baseUrl() };
    },
  } satisfies Partial<Operations>;
}

function modelOperations({ catalog: store, clock, isUsable, takeEffect }: OperationParts) {
  const view = (model: Model, nowMs: number) =>
    toModelView({ model, isServed: isServed(withRoutes(model, isUsable)), nowMs });
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
      await store.write({ saveModels: [model] });
      await takeEffect();
      return view(model, nowMs);
    },
    async retireModel({ id }: { id: string }) {
      const nowMs = clock.nowMs();
      const model = retire({ catalog: await load(), id, nowMs });
      await store.write({ saveModels: [model] });
      await takeEffect();
      return view(model, nowMs);
    },
  } satisfies Partial<Operations>;
}

function manifestOperations({
  catalog,
  secrets,
  variable,
  checkAddress,
  clock,
  takeEffect,
}: OperationParts) {
  return {
    async applyManifest({
      text,
      dryRun,
      isOwnFile = false,
    }: Parameters<Operations["applyManifest"]>[0]) {
      const manifest = readManifest(text, checkAddress);
      const plan = planApply({
        manifest,
        current: await catalog.load(),
        secrets,
        hasVariable: (name) => (variable(name) ?? "") !== "",
        nowMs: clock.nowMs(),
      });
      const isChange = plan.differences.some(({ action }) => action !== "keep");
      const manifestHash = isOwnFile ? manifestDigest(text) : undefined;
      if (!dryRun && (isChange || isOwnFile)) {
        await catalog.write(
          manifestHash === undefined ? plan.write : { ...plan.write, manifestHash },
        );
        await takeEffect();
      }
      return {
        differences: plan.differences,
        warnings: plan.warnings,
        applied: !dryRun && isChange,
      };
    },
    async exportManifest() {
      return { yaml: exportManifest(await catalog.load()) };
    },
  } satisfies Partial<Operations>;
}

/** By which a start knows whether the config file has changed since it was last applied. */
export function manifestDigest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

async function findAccount(accounts: AccountStore, idOrName: string): Promise<Account> {
  const account = await accounts.find(idOrName);
  if (account === undefined)
    throw new Problem(
      "not_found",
      `There is no account ${idOrName}; ./svc account list shows those there are.`,
    );
  return account;
}

/** The account that is meant where none is named. */
async function usualAccount(accounts: AccountStore): Promise<Account> {
  const all = await accounts.list();
  const account = all.find(({ name }) => name === "default") ?? all[0];
  if (account === undefined)
    throw new Problem("not_found", "There is no account yet: svc account create NAME makes one.");
  if (all.length > 1 && account.name !== "default")
    throw new Problem(
      "invalid",
      `Say with --account which of the ${all.length} accounts pays; svc account list shows them.`,
    );
  return account;
}

function futureDate(options: {
  readonly text: string;
  readonly flag: string;
  readonly nowMs: number;
}): number {
  const { text, flag, nowMs } = options;
  const ms = fromDateText(text);
  if (ms === undefined)
    throw new Problem(
      "invalid",
      `${flag} must be a day such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z, not "${text}".`,
    );
  if (ms <= nowMs)
    throw new Problem("invalid", `${flag} must lie in the future; ${text} has passed.`);
  return ms;
}
