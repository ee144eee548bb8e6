import { optionalDate } from "../../base/dates.ts";
import type { Freshness } from "../../base/freshness.ts";
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
import { mostReceipts } from "../../ledger/reports.ts";
import { dayMs, hourMs, toDay, toHour } from "../../ledger/rollups.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import { closeSums } from "../accounts/funds.ts";
import { type Audits, before, type Unbound } from "../audit/author.ts";
import { accountNames, futureDate } from "../input/values.ts";
import { daySums, toDayText } from "../reports/sums.ts";
import type { LifecycleCaller, LifecycleCallersView, ModelView } from "./schemas.ts";
import { type ModelDependencies, toModelView, viewedBy } from "./views.ts";

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
  deprecate: { action: "model.deprecate" },
  retire: { action: "model.retire" },
  callers: null,
} satisfies Audits<ModelOperations>;

export function modelOperations(
  dependencies: Dependencies,
): Unbound<ModelOperations, typeof modelAudits> {
  const { catalog: store, clock, takeEffect, mutex } = dependencies;
  const view = async (model: Model, nowMs: number) =>
    toModelView({ ...(await viewedBy(dependencies, await store.load())), model, nowMs });
  const load = async () => {
    const catalog = new Catalog(store);
    await catalog.reload();
    return catalog;
  };
  return {
    async list() {
      const content = await store.load();
      const nowMs = clock.nowMs();
      const viewed = await viewedBy(dependencies, content);
      return content.models.map((model) => toModelView({ ...viewed, model, nowMs }));
    },
    deprecate: ({ id, from, retires, replacement }, { audit }) =>
      mutex.run(async () => {
        const nowMs = clock.nowMs();
        const retiresAtMs = futureDate({ text: retires, field: "retires", nowMs });
        const fromMs =
          from === undefined ? undefined : futureDate({ text: from, field: "from", nowMs });
        const catalog = await load();
        const model = deprecate({ catalog, id, fromMs, retiresAtMs, replacement, nowMs });
        const detail = changeOf(catalog.find(id), model);
        await store.write({ atMs: nowMs, saveModels: [model] }, audit({ subject: id, detail }));
        await takeEffect();
        return view(model, nowMs);
      }),
    retire: ({ id }, { audit }) =>
      mutex.run(async () => {
        const nowMs = clock.nowMs();
        const catalog = await load();
        const model = retire({ catalog, id, nowMs });
        const detail = changeOf(catalog.find(id), model);
        await store.write({ atMs: nowMs, saveModels: [model] }, audit({ subject: id, detail }));
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
      const freshness = await closeSums(dependencies);
      const views: LifecycleCallersView[] = [];
      for (const model of asked)
        views.push({ ...(await toView(dependencies, model, nowMs)), ...freshness });
      return views;
    },
  };
}

/** For the audit log: what the model's lifecycle is, and what it was. */
function changeOf(earlier: Model | undefined, { lifecycle }: Model) {
  const present = lifecycleDates(lifecycle);
  return { ...present, ...before(lifecycleDates(earlier?.lifecycle ?? {}), present) };
}

const lifecycleDates = ({ deprecatedAtMs, retiresAtMs, replacement }: Model["lifecycle"]) => ({
  from: optionalDate(deprecatedAtMs),
  retires: optionalDate(retiresAtMs),
  replacement: replacement ?? null,
});

async function toView(
  dependencies: Dependencies,
  model: Model,
  nowMs: number,
): Promise<Omit<LifecycleCallersView, keyof Freshness>> {
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
  const records = new Map((await dependencies.keys.all()).map((record) => [record.id, record]));
  const names = await accountNames(dependencies.accounts);
  const first = await firstHour(dependencies, span);
  const query = { model: span.model.id, fromMs: first.untilMs, toMs: span.nowMs + 1 };
  const calls: Calls[] = first.calls.map((one) =>
    one.keyId !== null && records.has(one.keyId) ? one : { ...one, keyId: null },
  );
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
  const keyName = (id: string) => {
    const record = records.get(id);
    return record === undefined ? null : record.name || record.hint;
  };
  return latestFirst(calls).map(({ accountId, keyId, day, receipts }) => ({
    account: accountId,
    account_name: names.get(accountId) ?? null,
    key: keyId,
    key_name: keyId === null ? null : keyName(keyId),
    receipts,
    last_day: toDayText(day),
  }));
}

const mostPages = 100;

/**
 * Sums are by hour. The calls of the hour in which the model was deprecated are read one by one, so
 * that those before that moment do not count; at most 100,000 of them.
 */
async function firstHour(
  { money }: Dependencies,
  { model, fromMs, nowMs }: { readonly model: Model; readonly fromMs: number; nowMs: number },
): Promise<{ readonly calls: readonly Calls[]; readonly untilMs: number }> {
  const untilMs = Math.min(toHour(fromMs + hourMs - 1), nowMs + 1);
  const reports = money?.reports;
  if (reports?.receipts === undefined || untilMs <= fromMs) return { calls: [], untilMs: fromMs };
  const calls: Calls[] = [];
  let after: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const query = { model: model.id, fromMs, toMs: untilMs, limit: mostReceipts, after };
    const found = await reports.receipts(query);
    for (const { accountId, keyId } of found.receipts)
      calls.push({ accountId, keyId, day: toDay(fromMs), receipts: 1 });
    after = found.after;
    if (after === undefined) break;
  }
  return { calls, untilMs };
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
