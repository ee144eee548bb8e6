import type { Transaction } from "kysely";
import { removedKind } from "../../../base/removed-kind.ts";
import { endpoints } from "../../../call/endpoint.ts";
import type { Price } from "../../../call/price.ts";
import type { CatalogStore, CatalogWrite } from "../../../catalog/catalog.ts";
import {
  type Model,
  type PriceVersion,
  type ProviderEntry,
  type Route,
  type StoredSecret,
} from "../../../catalog/model.ts";
import type { Origin } from "../../../catalog/origin.ts";
import { providerKinds } from "../../../catalog/provider-kinds.ts";
import { addAudit } from "../audit.ts";
import { lockFor, snapshotOf } from "../dialect.ts";
import { announce } from "../feed.ts";
import { fromCosts, fromPrice, toPrice } from "../ledger/price-text.ts";
import { readMeta, writeMeta } from "../meta.ts";
import type { Db, Tables } from "../schema.ts";
import { hasCalls, moveModel, newestVersion, removeModel } from "./removal.ts";

export function createCatalogStore(db: Db): CatalogStore {
  return {
    load() {
      // Routes and providers belong together.
      return snapshotOf(db).execute(async (transaction) => {
        const providers = await transaction
          .selectFrom("providers")
          .selectAll()
          .orderBy("name")
          .execute();
        const models = await transaction
          .selectFrom("models")
          .selectAll()
          .where("removed_at_ms", "is", null)
          .orderBy("id")
          .execute();
        const prices = await transaction
          .selectFrom("prices")
          .selectAll()
          .orderBy("effective_at_ms")
          .orderBy("version")
          .execute();
        const byModel = Map.groupBy(prices, ({ model_id }) => model_id);
        return {
          providers: providers.map(toProvider),
          models: models.map((row) => {
            const versions = byModel.get(row.id) ?? [];
            const own = versions.filter(({ version }) => version > row.prices_after);
            return toModel(row, own.map(toVersion));
          }),
        };
      });
    },
    async write(changes, audit) {
      const { saveProviders = [], removeProviders = [], saveModels = [] } = changes;
      const { removeModels = [], renameModel } = changes;
      const { addPrices = [], manifestHash, endsAdoption, atMs } = changes;
      await db.transaction().execute(async (transaction) => {
        await lockFor(transaction, "catalog");
        if (removeProviders.length > 0) await lockFor(transaction, "target checks");
        for (const provider of saveProviders) {
          const { name, ...rest } = fromProvider(provider);
          await transaction
            .insertInto("providers")
            .values({ name, ...rest })
            .onConflict((conflict) => conflict.column("name").doUpdateSet(rest))
            .execute();
        }
        if (removeProviders.length > 0) {
          await transaction.deleteFrom("providers").where("name", "in", removeProviders).execute();
          await transaction
            .deleteFrom("target_checks")
            .where("provider", "in", removeProviders)
            .execute();
        }
        for (const model of saveModels) await saveModel(transaction, model, atMs);
        const changedKeys =
          renameModel === undefined ? [] : await moveModel(transaction, { ...renameModel, atMs });
        for (const id of removeModels) await removeModel(transaction, id, atMs);
        for (const added of addPrices) await addPrice(transaction, added);
        if (manifestHash !== undefined) await writeMeta(transaction, "manifest_hash", manifestHash);
        if (endsAdoption === true) await writeMeta(transaction, "manifest_adopts", "no");
        if (audit !== undefined) await addAudit(transaction, audit);
        for (const id of changedKeys) await announce(transaction, { topic: "keys", subject: id });
        await announce(transaction, { topic: "catalog", subject: "" });
      });
    },
    async manifestState() {
      return {
        hash: await readMeta(db, "manifest_hash"),
        adopts: (await readMeta(db, "manifest_adopts")) === "yes",
      };
    },
    hasCalls: (id, isInSums) => hasCalls(db, id, isInSums),
  };
}

async function addPrice(
  transaction: Transaction<Tables>,
  added: NonNullable<CatalogWrite["addPrices"]>[number],
): Promise<void> {
  const { modelId, effectiveAtMs, createdAtMs, price } = added;
  const newest = await newestVersion(transaction, modelId);
  await transaction
    .insertInto("prices")
    .values({
      model_id: modelId,
      version: newest + 1,
      // Until then, those of a removed model with the same id were active.
      effective_at_ms: newest === 0 ? effectiveAtMs : Math.max(effectiveAtMs, createdAtMs),
      created_at_ms: createdAtMs,
      price: price === undefined ? null : fromPrice(price),
    })
    .execute();
}

async function saveModel(transaction: Db, model: Model, atMs: number): Promise<void> {
  const { id, ...columns } = fromModel(model);
  const { version, text, isNew } = await nextCosts(transaction, model);
  const rest = { ...columns, cost_version: version, removed_at_ms: null };
  await transaction
    .insertInto("models")
    .values({ id, ...rest, prices_after: 0 })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(rest))
    .execute();
  if (!isNew) return;
  await transaction
    .insertInto("cost_versions")
    .values({ model_id: id, version, effective_at_ms: atMs, routes: text })
    .execute();
}

/** The version that a model's route costs have when it is saved: another one where they change. */
async function nextCosts(
  transaction: Db,
  { id, routes }: Model,
): Promise<{ readonly version: number; readonly text: string; readonly isNew: boolean }> {
  const text = fromCosts(routes);
  const last = await transaction
    .selectFrom("cost_versions")
    .select(["version", "routes"])
    .where("model_id", "=", id)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last?.routes === text) return { version: last.version, text, isNew: false };
  return { version: (last?.version ?? 0) + 1, text, isNew: true };
}

function toProvider(row: Tables["providers"]): ProviderEntry {
  const apiKey: StoredSecret | undefined =
    row.api_key === null ? undefined : JSON.parse(row.api_key);
  return {
    name: row.name,
    kind: oneOf([...providerKinds, removedKind], row.kind),
    baseUrl: row.base_url,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(row.keys === null ? {} : { keys: JSON.parse(row.keys) }),
    allowPrivate: row.allow_private === 1,
    ...(row.paused === 1 ? { isPaused: true } : {}),
    ...(row.options === null ? {} : { options: JSON.parse(row.options) }),
    ...toOrigin(row.origin),
  };
}

function fromProvider(provider: ProviderEntry): Tables["providers"] {
  return {
    name: provider.name,
    kind: provider.kind,
    base_url: provider.baseUrl,
    api_key: provider.apiKey === undefined ? null : JSON.stringify(provider.apiKey),
    keys: provider.keys === undefined ? null : JSON.stringify(provider.keys),
    allow_private: provider.allowPrivate ? 1 : 0,
    paused: provider.isPaused === true ? 1 : 0,
    options: provider.options === undefined ? null : JSON.stringify(provider.options),
    origin: provider.origin === undefined ? null : JSON.stringify(provider.origin),
  };
}

function toVersion(row: Tables["prices"]): PriceVersion {
  return {
    version: row.version,
    effectiveAtMs: row.effective_at_ms,
    createdAtMs: row.created_at_ms,
    price: row.price === null ? undefined : toPrice(row.price),
  };
}

type StoredRoute = Omit<Route, "cost"> & { readonly cost?: string };

function toModel(row: Tables["models"], prices: readonly PriceVersion[]): Model {
  const stored: readonly StoredRoute[] = JSON.parse(row.routes);
  const routes = stored.map(({ cost, ...rest }): Route => {
    const read: Price | undefined = cost === undefined ? undefined : toPrice(cost);
    return read === undefined ? rest : { ...rest, cost: read };
  });
  return {
    id: row.id,
    ...(row.aliases === null ? {} : { aliases: JSON.parse(row.aliases) }),
    endpoint: oneOf(endpoints, row.endpoint),
    input: oneOf(["text", "media"], row.input),
    ownedBy: row.owned_by,
    createdAtMs: row.created_at_ms,
    ...(row.context_length === null ? {} : { contextLength: row.context_length }),
    ...(row.max_output_tokens === null ? {} : { maxOutputTokens: row.max_output_tokens }),
    ...(row.max_image_tokens === null ? {} : { maxImageTokens: row.max_image_tokens }),
    ...(row.max_audio_seconds === null ? {} : { maxAudioSeconds: row.max_audio_seconds }),
    ...(row.timeouts === null ? {} : { timeouts: JSON.parse(row.timeouts) }),
    prices,
    routes,
    costs: { version: row.cost_version, routes },
    lifecycle: {
      ...(row.deprecated_at_ms === null ? {} : { deprecatedAtMs: row.deprecated_at_ms }),
      ...(row.retires_at_ms === null ? {} : { retiresAtMs: row.retires_at_ms }),
      ...(row.replacement === null ? {} : { replacement: row.replacement }),
    },
    ...toOrigin(row.origin),
  };
}

function toOrigin(text: string | null): { readonly origin?: Origin } {
  return text === null ? {} : { origin: JSON.parse(text) };
}

type ModelRow = Omit<Tables["models"], "cost_version" | "removed_at_ms" | "prices_after">;

function fromModel(model: Model): ModelRow {
  const { aliases = [] } = model;
  return {
    id: model.id,
    aliases: aliases.length === 0 ? null : JSON.stringify(aliases),
    endpoint: model.endpoint,
    input: model.input,
    owned_by: model.ownedBy,
    created_at_ms: model.createdAtMs,
    context_length: model.contextLength ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    max_image_tokens: model.maxImageTokens ?? null,
    max_audio_seconds: model.maxAudioSeconds ?? null,
    timeouts: model.timeouts === undefined ? null : JSON.stringify(model.timeouts),
    routes: JSON.stringify(
      model.routes.map(({ cost, ...rest }) =>
        cost === undefined ? rest : { ...rest, cost: fromPrice(cost) },
      ),
    ),
    deprecated_at_ms: model.lifecycle.deprecatedAtMs ?? null,
    retires_at_ms: model.lifecycle.retiresAtMs ?? null,
    replacement: model.lifecycle.replacement ?? null,
    origin: model.origin === undefined ? null : JSON.stringify(model.origin),
  };
}

function oneOf<const T extends string>(known: readonly T[], text: string): T {
  const found = known.find((word) => word === text);
  if (found === undefined) throw new Error(`the database contains an unknown value: ${text}`);
  return found;
}
