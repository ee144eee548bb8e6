import { optionalDate } from "../../base/dates.ts";
import { defined } from "../../base/defined.ts";
import { newId } from "../../base/ids.ts";
import { Mutex } from "../../base/mutex.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { hasInvisible } from "../../base/text/visible-text.ts";
import { ownerOf } from "../../catalog/aliases.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import { hashKeySecret, keyHint, newKeySecret } from "../../keys/secret.ts";
import type { RejectionStore } from "../../rejections/rejection.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { setLimits } from "../accounts/funds.ts";
import {
  type Audits,
  type Author,
  before as beforeOf,
  makerOf,
  omit,
  type Unbound,
} from "../audit/author.ts";
import {
  checkNamed,
  isSameLimits,
  type LimitInputs,
  readLimits,
  toLimitsView,
} from "../input/limits.ts";
import { findAccount, futureDate, toDurationMs } from "../input/values.ts";
import type { FoundKey, KeyView, NewKeyView } from "./schemas.ts";
import { type KeyBudgetView, keyBudgets, keyView, keyViews, toKeyView } from "./views.ts";

export interface KeyDependencies extends MoneyDependencies {
  readonly keys: KeyStore;
  readonly rejections: RejectionStore;
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
}

export interface KeyOperations {
  create(
    input: {
      account: string;
      name?: string;
      models?: readonly string[] | undefined;
      expires?: string | undefined;
    } & LimitInputs,
  ): Promise<NewKeyView>;
  /** In the order of `ids`, where they are given. */
  list(input: { account?: string; ids?: readonly string[] }): Promise<readonly KeyView[]>;
  /** By name, id and hint, the best first; of one account, or of all. */
  search(input: { text: string; account?: string; limit: number }): Promise<readonly FoundKey[]>;
  /** Of the keys that have a budget of their own; of all accounts by default. */
  budgets(input: { account?: string }): Promise<readonly KeyBudgetView[]>;
  revoke(input: { id: string }): Promise<KeyView>;
  /** Calls are rejected until the key is resumed. Pausing a paused key changes nothing. */
  pause(input: { id: string }): Promise<KeyView>;
  resume(input: { id: string }): Promise<KeyView>;
  setLimits(input: { id: string } & LimitInputs): Promise<KeyView>;
  /** Changes the name, the allowed models (null: all) or the expiration date. Omitted fields stay. */
  update(input: {
    id: string;
    name?: string | undefined;
    models?: readonly string[] | null | undefined;
    /** A day or a time; `never` for none. */
    expires?: string | undefined;
  }): Promise<KeyView & { readonly warnings: readonly string[] }>;
  /** A new secret for the same key. The previous one works during the overlap (default: 24h). */
  rotate(input: { id: string; overlap?: string }): Promise<NewKeyView>;
}

export const keyAudits = {
  create: { action: "key.create", detail: (input) => omit(input, "account") },
  list: null,
  search: null,
  budgets: null,
  revoke: { action: "key.revoke" },
  pause: { action: "key.pause" },
  resume: { action: "key.resume" },
  setLimits: { action: "key.limit", detail: (input) => omit(input, "id") },
  update: {
    action: "key.update",
    detail: ({ models, ...input }) => ({
      ...omit(input, "id"),
      ...(models === undefined ? {} : { models: models ?? "all" }),
    }),
  },
  rotate: {
    action: "key.rotate",
    detail: ({ overlap }) => (overlap === undefined ? {} : { overlap }),
  },
} satisfies Audits<KeyOperations>;

type Implementation = Unbound<KeyOperations, typeof keyAudits>;

const usualOverlap = "24h";
const maxOverlapDays = 30;

export function keyOperations(dependencies: KeyDependencies): Implementation {
  const { accounts, keys, clock, takeEffect, sync } = dependencies;
  const mutex = new Mutex();
  const recordsOf = async (name: string | undefined) => {
    const wanted = name === undefined ? undefined : await findAccount(accounts, name);
    const records = await keys.all();
    return records.filter(({ accountId }) => wanted === undefined || accountId === wanted.id);
  };
  return {
    create: (input, author) => createKey(dependencies, input, author),
    async list({ account, ids }) {
      const records = await recordsOf(account);
      if (ids === undefined) return keyViews(dependencies, records);
      const byId = new Map(records.map((record) => [record.id, record]));
      return keyViews(
        dependencies,
        ids.flatMap((id) => byId.get(id) ?? []),
      );
    },
    async search({ text, account, limit }) {
      const found = await keys.search({ text, limit, ...defined({ accountId: account }) });
      return found.map(({ id, accountId, name, hint }) => ({ id, account: accountId, name, hint }));
    },
    budgets: async ({ account }) => keyBudgets(dependencies, await recordsOf(account)),
    async revoke({ id }, { audit }) {
      const before = await keys.get(id);
      if (before === undefined) throw noSuchKey(id);
      await keys.revoke(id, clock.nowMs(), audit(aboutKey(before)));
      const record = await keys.get(id);
      if (record === undefined) throw noSuchKey(id);
      await takeEffect();
      return keyView(dependencies, record);
    },
    pause: ({ id }, author) => setPaused(dependencies, { id, atMs: clock.nowMs() }, author),
    resume: ({ id }, author) => setPaused(dependencies, { id, atMs: undefined }, author),
    setLimits: ({ id, ...inputs }, { audit }) =>
      mutex.run(async () => {
        checkNamed(inputs);
        const record = await findLive(keys, id);
        const { limits: before, accountId, ...rest } = record;
        const limits = readLimits(before, inputs);
        if (isSameLimits(before, limits)) {
          // An earlier request may have written them and failed before they took effect.
          await takeEffect();
          await sync();
          return keyView(dependencies, record);
        }
        const owner = { accountId, keyId: id };
        const detail = beforeOf(toLimitsView(before), inputs);
        await setLimits(dependencies, {
          owner,
          limits,
          audit: audit({ ...aboutKey(record), detail }),
        });
        return keyView(dependencies, {
          ...rest,
          accountId,
          ...(limits === undefined ? {} : { limits }),
        });
      }),
    update: (input, author) => updateKey(dependencies, input, author),
    rotate: (input, author) => mutex.run(() => rotateKey(dependencies, input, author)),
  };
}

async function createKey(
  { accounts, keys, catalog, secrets, clock, takeEffect }: KeyDependencies,
  input: Parameters<KeyOperations["create"]>[0],
  { actor, audit }: Author,
): Promise<NewKeyView> {
  const { account: accountName, name = "", models: named, expires, ...inputs } = input;
  const models = await toModelIds(catalog, named);
  const account = await findAccount(accounts, accountName);
  const nowMs = clock.nowMs();
  const expiresAtMs =
    expires === undefined ? undefined : futureDate({ text: expires, field: "expires", nowMs });
  checkKeyWords(name, models);
  const limits = readLimits(undefined, inputs);
  const secret = newKeySecret();
  const record: KeyRecord = {
    id: newId("key"),
    accountId: account.id,
    name,
    hash: hashKeySecret(secret, secrets.keyHashKey),
    hint: keyHint(secret),
    ...(models === undefined ? {} : { models: new Set(models) }),
    createdAtMs: nowMs,
    createdBy: makerOf(actor).name,
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(limits === undefined ? {} : { limits }),
  };
  await keys.insert(record, audit(aboutKey(record)));
  await takeEffect();
  const warnings = await unknownModels(catalog, models);
  return {
    ...toKeyView({ record, lastUsedMs: undefined, nowMs }),
    key: secret,
    warnings,
  };
}

async function updateKey(
  dependencies: KeyDependencies,
  { id, name, models: given, expires }: Parameters<KeyOperations["update"]>[0],
  { audit }: Author,
): ReturnType<KeyOperations["update"]> {
  const { keys, catalog, clock, takeEffect } = dependencies;
  const models = given === null ? null : await toModelIds(catalog, given);
  if (name === undefined && models === undefined && expires === undefined)
    throw new Problem({
      code: "invalid",
      message: "Nothing to change. Set name, models or expires.",
    });
  checkKeyWords(name ?? "", models ?? undefined);
  const expiresAtMs = readExpiry(expires, clock.nowMs());
  const before = await findLive(keys, id);
  const isChanged = await keys.update(
    id,
    {
      ...(name === undefined ? {} : { name }),
      ...(models === undefined ? {} : { models: models === null ? null : new Set(models) }),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    },
    audit({
      ...aboutKey({ ...before, name: name ?? before.name }),
      detail: beforeOf(toWords(before), { name, models, expires }),
    }),
  );
  if (!isChanged) throw isRevoked(id);
  await takeEffect();
  const view = await keyView(dependencies, await findLive(keys, id));
  return { ...view, warnings: await unknownModels(catalog, models ?? undefined) };
}

/** Undefined where nothing is asked for, null for never. */
export function readExpiry(expires: string | undefined, nowMs: number): number | null | undefined {
  if (expires === undefined) return undefined;
  return expires === "never" ? null : futureDate({ text: expires, field: "expires", nowMs });
}

async function setPaused(
  dependencies: KeyDependencies,
  { id, atMs }: { readonly id: string; readonly atMs: number | undefined },
  { audit }: Author,
): Promise<KeyView> {
  const { keys, takeEffect } = dependencies;
  const before = await findLive(keys, id);
  await keys.setPaused(id, atMs, audit(aboutKey(before)));
  // Also where it was so already: an earlier request may have failed before it took effect.
  await takeEffect();
  return keyView(dependencies, await findLive(keys, id));
}

async function rotateKey(
  dependencies: KeyDependencies,
  { id, overlap = usualOverlap }: Parameters<KeyOperations["rotate"]>[0],
  { audit }: Author,
): Promise<NewKeyView> {
  const { keys, secrets, clock, takeEffect } = dependencies;
  const overlapMs = toDurationMs({ text: overlap, field: "overlap", maxDays: maxOverlapDays });
  const before = await findLive(keys, id);
  const { expiresAtMs } = before;
  const nowMs = clock.nowMs();
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs)
    throw new Problem({
      code: "conflict",
      message: `Key ${id} has expired. Create a new key instead.`,
    });
  const secret = newKeySecret();
  const hint = keyHint(secret);
  const isChanged = await keys.rotate(
    id,
    {
      hash: hashKeySecret(secret, secrets.keyHashKey),
      hint,
      previousUntilMs: overlapMs === 0 ? undefined : nowMs + overlapMs,
    },
    audit(aboutKey({ ...before, hint })),
  );
  if (!isChanged) throw isRevoked(id);
  await takeEffect();
  return { ...(await keyView(dependencies, await findLive(keys, id))), key: secret, warnings: [] };
}

/** As the audit log has what can be changed. */
const toWords = ({ name, models, expiresAtMs }: KeyRecord) => ({
  name,
  models: models === undefined ? "all" : [...models],
  expires: optionalDate(expiresAtMs) ?? "never",
});

/** A name can be given twice, and an id means nothing to a reader. */
const aboutKey = ({ accountId, name, hint }: KeyRecord) => ({
  accountId,
  subject: name === "" ? hint : `${name} (${hint})`,
});

async function findLive(keys: KeyStore, id: string): Promise<KeyRecord> {
  const record = await keys.get(id);
  if (record === undefined) throw noSuchKey(id);
  if (record.revokedAtMs !== undefined) throw isRevoked(id);
  return record;
}

/** Throws where a name or models could not be given to a key. */
export function checkKeyWords(name: string, models: readonly string[] | undefined): void {
  if (models !== undefined && (models.length === 0 || models.some((id) => id === "")))
    throw invalid({ models: "Models must be a list of model ids." });
  if (name.length > 100) throw invalid({ name: "The name must be at most 100 characters long." });
  if (hasInvisible(name))
    throw invalid({ name: "The name must not contain invisible characters." });
  if (models?.some(hasInvisible) === true)
    throw invalid({ models: "Model ids must not contain invisible characters." });
}

/** The list of a key holds the ids of models; an alias stands for one. */
async function toModelIds(
  catalog: CatalogStore,
  names: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (names === undefined) return undefined;
  const { models } = await catalog.load();
  return [...new Set(names.map((name) => ownerOf(models, name)?.id ?? name))];
}

async function unknownModels(
  catalog: CatalogStore,
  models: readonly string[] = [],
): Promise<readonly string[]> {
  if (models.length === 0) return [];
  const known = new Set((await catalog.load()).models.map(({ id }) => id));
  return models
    .filter((id) => !known.has(id))
    .map((id) => `Model "${id}" does not exist yet. The key can use it once it is added.`);
}

function isRevoked(id: string): Problem {
  return new Problem({
    code: "conflict",
    message: `Key ${id} is revoked and cannot be changed.`,
  });
}

function noSuchKey(id: string): Problem {
  return new Problem({
    code: "not_found",
    message: `Unknown key "${id}".`,
    command: "key list",
  });
}
