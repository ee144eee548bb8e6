import { optionalDate } from "../../base/dates.ts";
import type { Mutex } from "../../base/mutex.ts";
import {
  Catalog,
  type CatalogStore,
  deprecate,
  retire,
  unknownModel,
} from "../../catalog/catalog.ts";
import { lifecycleState } from "../../catalog/lifecycle.ts";
import type { Model } from "../../catalog/model.ts";
import type { KeyStore } from "../../keys/directory.ts";
import { dayMs } from "../../ledger/rollups.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { closeSums } from "../accounts/funds.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { accountNames, futureDate } from "../input/values.ts";
import { daySums, toDayText } from "../reports/sums.ts";
import type { LifecycleCaller, LifecycleCallersView, ModelView } from "./schemas.ts";
import { type ModelDependencies, toModelView } from "./views.ts";

export interface ModelOperations {
  list(input: Record<never, never>): Promise<readonly ModelView[]>;
  deprecate(input: {
    id: string;
    from?: string | undefined;
    retires: string;
    replacement: string;
  }): Promise<ModelView>;
  retire(input: { id: string }): Promise<ModelView>;
  /** Of one model, or of all that are deprecated or retired. */
  callers(input: { model?: string }): Promise<readonly LifecycleCallersView[]>;
}

interface Dependencies extends MoneyDependencies, ModelDependencies {
  readonly catalog: CatalogStore;
  readonly keys: KeyStore;
  readonly mutex: Mutex;
}

const mostDays = 366;

export const modelAudits = {
  list: null,
  deprecate: { action: "model.deprecate", detail: (input) => omit(input, "id") },
  retire: { action: "model.retire" },
  callers: null,
} satisfies Audits<ModelOperations>;

export function modelOperations(
  dependencies: Dependencies,
): Unbound<ModelOperations, typeof modelAudits> {
  const { catalog: store, clock, takeEffect, mutex } = dependencies;
  const view = (model: Model, nowMs: number) => toModelView({ ...dependencies, model, nowMs });
  const load = async () => {
    const catalog = new Catalog(store);
    await catalog.reload();
    return catalog;
  };
  return {
    async list() {
      const { models } = await store.load();
      const nowMs = clock.nowMs();
      return models.map((model) => view(model, nowMs));
    },
    deprecate: ({ id, from, retires, replacement }, { audit }) =>
      mutex.run(async () => {
        const nowMs = clock.nowMs();
        const retiresAtMs = futureDate({ text: retires, field: "retires", nowMs });
        const fromMs =
          from === undefined ? undefined : futureDate({ text: from, field: "from", nowMs });
        const catalog = await load();
        const model = deprecate({ catalog, id, fromMs, retiresAtMs, replacement, nowMs });
        await store.write({ atMs: nowMs, saveModels: [model] }, audit({ subject: id }));
        await takeEffect();
        return view(model, nowMs);
      }),
    retire: ({ id }, { audit }) =>
      mutex.run(async () => {
        const nowMs = clock.nowMs();
        const model = retire({ catalog: await load(), id, nowMs });
        await store.write({ atMs: nowMs, saveModels: [model] }, audit({ subject: id }));
        await takeEffect();
        return view(model, nowMs);
      }),
    async callers({ model: id }) {
      const { models } = await dependencies.catalog.load();
      const nowMs = dependencies.clock.nowMs();
      const isAsked = (model: Model) =>
        id === undefined ? lifecycleState(model.lifecycle, nowMs) !== "active" : model.id === id;
      const asked = models.filter(isAsked);
      if (id !== undefined && asked.length === 0) throw unknownModel(id);
      await closeSums(dependencies);
      const views: LifecycleCallersView[] = [];
      for (const model of asked) views.push(await toView(dependencies, model, nowMs));
      return views;
    },
  };
}

async function toView(
  dependencies: Dependencies,
  model: Model,
  nowMs: number,
): Promise<LifecycleCallersView> {
  const { deprecatedAtMs, retiresAtMs, replacement } = model.lifecycle;
  const status = lifecycleState(model.lifecycle, nowMs);
  const fromMs = Math.max(deprecatedAtMs ?? nowMs, nowMs - mostDays * dayMs);
  const callers =
    status === "active" ? [] : await callersOf(dependencies, { model, fromMs, nowMs });
  return {
    model: model.id,
    status,
    deprecated_at: optionalDate(deprecatedAtMs),
    retires_at: optionalDate(retiresAtMs),
    replacement: replacement ?? null,
    receipts: callers.reduce((sum, { receipts }) => sum + receipts, 0),
    callers,
  };
}

async function callersOf(
  dependencies: Dependencies,
  span: { readonly model: Model; readonly fromMs: number; readonly nowMs: number },
): Promise<readonly LifecycleCaller[]> {
  const query = { model: span.model.id, fromMs: span.fromMs, toMs: span.nowMs + 1 };
  const records = new Map((await dependencies.keys.all()).map((record) => [record.id, record]));
  const names = await accountNames(dependencies.accounts);
  const calls: Calls[] = [];
  /** By day and account: what no key of the list has done was done with temporary ones. */
  const listed = new Map<string, number>();
  for (const { dayMs: day, name: keyId, receipts } of await daySums(dependencies, {
    ...query,
    by: "key",
  })) {
    const accountId = records.get(keyId)?.accountId;
    if (accountId === undefined) continue;
    calls.push({ accountId, keyId, day, receipts });
    const name = `${day} ${accountId}`;
    listed.set(name, (listed.get(name) ?? 0) + receipts);
  }
  for (const sum of await daySums(dependencies, { ...query, by: "account" })) {
    const { dayMs: day, name: accountId } = sum;
    const receipts = sum.receipts - (listed.get(`${day} ${accountId}`) ?? 0);
    if (receipts > 0) calls.push({ accountId, keyId: null, day, receipts });
  }
  return latestFirst(calls).map(({ accountId, keyId, day, receipts }) => ({
    account: accountId,
    account_name: names.get(accountId) ?? null,
    key: keyId,
    key_name: keyId === null ? null : (records.get(keyId)?.name ?? null),
    receipts,
    last_day: toDayText(day),
  }));
}

interface Calls {
  readonly accountId: string;
  readonly keyId: string | null;
  readonly day: number;
  readonly receipts: number;
}

/** One for each caller, with the last day; those who call most stand first within a day. */
function latestFirst(calls: readonly Calls[]): readonly Calls[] {
  const callers = Map.groupBy(calls, ({ accountId, keyId }) => `${accountId} ${keyId}`).values();
  const sum = (one: Calls, other: Calls) => ({
    ...one,
    day: Math.max(one.day, other.day),
    receipts: one.receipts + other.receipts,
  });
  return Array.from(callers, (days) => days.reduce(sum)).toSorted(
    (one, other) => other.day - one.day || other.receipts - one.receipts,
  );
}
