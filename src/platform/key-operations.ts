import { newId } from "../base/ids.ts";
import { Problem } from "../base/problem.ts";
import type { CatalogStore } from "../catalog/catalog.ts";
import type { KeyRecord, KeyStore } from "../keys/directory.ts";
import { hashKeySecret, keyHint, newKeySecret } from "../keys/secret.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { findAccount, futureDate } from "./inputs.ts";
import { checkNamed, type LimitInputs, readLimits, startBudget } from "./limit-inputs.ts";
import type { MoneyParts } from "./money-operations.ts";
import { createTurns } from "./turns.ts";
import { type KeyView, type NewKeyView, toKeyView } from "./views.ts";

export interface KeyParts extends MoneyParts {
  readonly keys: KeyStore;
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
}

export interface KeyOperations {
  createKey(
    input: {
      account: string;
      name?: string;
      models?: readonly string[];
      expires?: string;
    } & LimitInputs,
  ): Promise<NewKeyView>;
  listKeys(input: { account?: string }): Promise<readonly KeyView[]>;
  revokeKey(input: { id: string }): Promise<KeyView>;
  setKeyLimits(input: { id: string } & LimitInputs): Promise<KeyView>;
}

export function keyOperations(parts: KeyParts): KeyOperations {
  const { accounts, keys, clock, takeEffect, sync } = parts;
  const inTurn = createTurns();
  return {
    createKey: (input) => createKey(parts, input),
    async listKeys({ account: accountName }) {
      const account =
        accountName === undefined ? undefined : await findAccount(accounts, accountName);
      const nowMs = clock.nowMs();
      const records = await keys.all();
      return records
        .filter(({ accountId }) => account === undefined || accountId === account.id)
        .map((record) => toKeyView(record, nowMs));
    },
    async revokeKey({ id }) {
      const nowMs = clock.nowMs();
      const isKnown = await keys.revoke(id, nowMs);
      const record = isKnown ? await keys.get(id) : undefined;
      if (record === undefined) throw noSuchKey(id);
      await takeEffect();
      return toKeyView(record, nowMs);
    },
    setKeyLimits: ({ id, ...inputs }) =>
      inTurn(async () => {
        checkNamed(inputs);
        const record = await keys.get(id);
        if (record === undefined) throw noSuchKey(id);
        if (record.revokedAtMs !== undefined)
          throw new Problem(
            "conflict",
            `${id} is revoked: it can do nothing that could be limited.`,
          );
        const { limits: before, createdAtMs, ...rest } = record;
        const after = readLimits(before, inputs);
        const inForce = await startBudget(parts, {
          id,
          filter: { keyId: id },
          createdAtMs,
          before,
          after,
        });
        await keys.setLimits(id, after);
        await takeEffect();
        inForce();
        await sync();
        const limits = after === undefined ? {} : { limits: after };
        return toKeyView({ ...rest, createdAtMs, ...limits }, clock.nowMs());
      }),
  };
}

async function createKey(
  { accounts, keys, catalog, secrets, clock, takeEffect }: KeyParts,
  input: Parameters<KeyOperations["createKey"]>[0],
): Promise<NewKeyView> {
  const { account: accountName, name = "", models, expires, ...inputs } = input;
  const account = await findAccount(accounts, accountName);
  const nowMs = clock.nowMs();
  const expiresAtMs =
    expires === undefined ? undefined : futureDate({ text: expires, flag: "--expires", nowMs });
  if (models !== undefined && (models.length === 0 || models.some((id) => id === "")))
    throw new Problem("invalid", "--models needs model ids, separated by commas.");
  if (name.length > 100)
    throw new Problem("invalid", "The key's name must have at most 100 characters.");
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
  await keys.insert(record);
  await takeEffect();
  const known = new Set((await catalog.load()).models.map(({ id }) => id));
  const warnings = (models ?? [])
    .filter((id) => !known.has(id))
    .map((id) => `there is no model ${id} yet: this key may call it once there is`);
  return { ...toKeyView(record, nowMs), key: secret, warnings };
}

function noSuchKey(id: string): Problem {
  return new Problem(
    "not_found",
    `There is no key with the id ${id}; ./svc key list shows those there are.`,
  );
}
