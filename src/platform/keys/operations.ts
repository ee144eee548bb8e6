import { newId } from "../../base/ids.ts";
import { Mutex } from "../../base/mutex.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { hasInvisible } from "../../base/text/visible-text.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import { hashKeySecret, keyHint, newKeySecret } from "../../keys/secret.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { setLimits } from "../accounts/funds.ts";
import { type Audits, type Author, omit, type Unbound } from "../audit/author.ts";
import { checkNamed, isSameLimits, type LimitInputs, readLimits } from "../input/limits.ts";
import { findAccount, futureDate, toDurationMs } from "../input/values.ts";
import type { KeyView, NewKeyView } from "./schemas.ts";
import { type KeyBudgetView, keyBudgets, keyView, keyViews, toKeyView } from "./views.ts";

export interface KeyDependencies extends MoneyDependencies {
  readonly keys: KeyStore;
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
  list(input: { account?: string }): Promise<readonly KeyView[]>;
  /** Of the keys of an account that have a budget of their own. */
  budgets(input: { account: string }): Promise<readonly KeyBudgetView[]>;
  revoke(input: { id: string }): Promise<KeyView>;
  setLimits(input: { id: string } & LimitInputs): Promise<KeyView>;
  /** Changes the name or the allowed models (null: all). Omitted fields stay. */
  update(input: {
    id: string;
    name?: string | undefined;
    models?: readonly string[] | null | undefined;
  }): Promise<KeyView & { readonly warnings: readonly string[] }>;
  /** A new secret for the same key. The previous one works during the overlap (default: 24h). */
  rotate(input: { id: string; overlap?: string }): Promise<NewKeyView>;
}

export const keyAudits = {
  create: { action: "key.create", detail: (input) => omit(input, "account") },
  list: null,
  budgets: null,
  revoke: { action: "key.revoke" },
  setLimits: { action: "key.limit", detail: (input) => omit(input, "id") },
  update: { action: "key.update", detail: (input) => omit(input, "id") },
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
    list: async ({ account }) => keyViews(dependencies, await recordsOf(account)),
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
        await setLimits(dependencies, { owner, limits, audit: audit(aboutKey(record)) });
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
  { audit }: Author,
): Promise<NewKeyView> {
  const { account: accountName, name = "", models, expires, ...inputs } = input;
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
  { id, name, models }: Parameters<KeyOperations["update"]>[0],
  { audit }: Author,
): ReturnType<KeyOperations["update"]> {
  const { keys, catalog, takeEffect } = dependencies;
  if (name === undefined && models === undefined)
    throw new Problem({
      code: "invalid",
      message: "Nothing to change. Set name or models.",
    });
  checkKeyWords(name ?? "", models ?? undefined);
  const before = await findLive(keys, id);
  const isChanged = await keys.update(
    id,
    {
      ...(name === undefined ? {} : { name }),
      ...(models === undefined ? {} : { models: models === null ? null : new Set(models) }),
    },
    audit(aboutKey({ ...before, name: name ?? before.name })),
  );
  if (!isChanged) throw isRevoked(id);
  await takeEffect();
  const view = await keyView(dependencies, await findLive(keys, id));
  return { ...view, warnings: await unknownModels(catalog, models ?? undefined) };
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
