import type { AuditRecord } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import type { Mutex } from "../../base/mutex.ts";
import { Problem } from "../../base/problem.ts";
import type { Price } from "../../call/price.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import { type Model, type PriceVersion, priceAt } from "../../catalog/model.ts";
import { checkFields } from "../../catalog/origin.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { findModel, futureDate, toMoment } from "../input/values.ts";
import { toPriceView } from "../models/views.ts";
import { planBulk } from "./bulk.ts";
import { planImport, readMarkup } from "./import.ts";
import { type PriceTexts, readPrice } from "./read-price.ts";
import type { BulkInput, BulkView, ImportView, PriceRow } from "./schemas.ts";

export interface PriceDependencies {
  readonly catalog: CatalogStore;
  readonly clock: Clock;
  readonly takeEffect: () => Promise<void>;
  /** One change of the catalog at a time: each reads the current state before it writes. */
  readonly mutex: Mutex;
}

export interface PriceOperations {
  /** A new version, active now or from a future day. Omitted classes have no price. */
  set(input: { model: string; price: PriceTexts; from?: string | undefined }): Promise<PriceRow>;
  /** One price, markup or none for many models, in one write. */
  setMany(input: BulkInput): Promise<BulkView>;
  /** From now on the model has no price and is not served, until a later one takes effect. */
  remove(input: { model: string }): Promise<PriceRow>;
  /** Current and scheduled prices, the prices at a given time, or the whole history. */
  list(input: { model?: string; at?: string; history?: boolean }): Promise<readonly PriceRow[]>;
  /** Takes public list prices over, for models and for what routes cost. */
  import(input: {
    models?: readonly string[];
    markup?: string;
    dryRun: boolean;
    replace?: boolean;
  }): Promise<ImportView>;
}

/** As the audit log has it; null: none. */
function priceBefore(model: Model, nowMs: number) {
  const price = priceAt(model, nowMs)?.price;
  return price === undefined ? null : toPriceView(price);
}

interface NewPrice {
  readonly model: string;
  readonly price: Price | undefined;
  readonly effectiveAtMs: number;
  readonly nowMs: number;
}

export const priceAudits = {
  set: { action: "price.set", detail: (input) => omit(input, "model") },
  setMany: {
    action: "price.set",
    detail: ({ markup, free, from }) => ({
      ...(markup === undefined ? {} : { markup }),
      ...(free === true ? { free } : {}),
      ...(from === undefined ? {} : { from }),
    }),
  },
  remove: { action: "price.remove" },
  list: null,
  import: {
    action: "price.import",
    detail: (input) => ({ markup: "0", ...omit(input, "dryRun") }),
  },
} satisfies Audits<PriceOperations>;

export function priceOperations({
  catalog,
  clock,
  takeEffect,
  mutex,
}: PriceDependencies): Unbound<PriceOperations, typeof priceAudits> {
  const find = async (id: string) => findModel((await catalog.load()).models, id);
  const add = async (
    { model: id, price, effectiveAtMs, nowMs }: NewPrice,
    audit: AuditRecord,
  ): Promise<PriceRow> => {
    const addPrices = [{ modelId: id, price, effectiveAtMs, createdAtMs: nowMs }];
    await catalog.write({ atMs: nowMs, addPrices }, audit);
    await takeEffect();
    const model = await find(id);
    const version = model.prices.reduce((one, other) =>
      other.version > one.version ? other : one,
    );
    return toRow({ model, version, atMs: clock.nowMs() });
  };
  const operations: Unbound<PriceOperations, typeof priceAudits> = {
    async set({ model: id, price: texts, from }, { audit }) {
      const model = await find(id);
      checkFields({ subject: `Model ${id}`, entry: model, fields: ["price"] });
      const price = readPrice(model, texts);
      const nowMs = clock.nowMs();
      const effectiveAtMs =
        from === undefined
          ? startOf(model, nowMs)
          : futureDate({ text: from, field: "from", nowMs });
      const detail = { before: { price: priceBefore(model, nowMs) } };
      return add({ model: id, price, effectiveAtMs, nowMs }, audit({ subject: id, detail }));
    },
    async setMany({ from, dry_run: dryRun = false, ...input }, { audit }) {
      const nowMs = clock.nowMs();
      const atMs =
        from === undefined ? undefined : futureDate({ text: from, field: "from", nowMs });
      const { prices, changes, skipped } = await planBulk(input, await catalog.load(), nowMs);
      const isChange = prices.length > 0 && !dryRun;
      if (isChange) {
        const addPrices = prices.map(({ model, price }) => ({
          modelId: model.id,
          price,
          effectiveAtMs: atMs ?? startOf(model, nowMs),
          createdAtMs: nowMs,
        }));
        const subject = `${prices.length} ${prices.length === 1 ? "model" : "models"}`;
        await catalog.write({ atMs: nowMs, addPrices }, audit({ subject, detail: { changes } }));
        await takeEffect();
      }
      return { changes, skipped, applied: isChange };
    },
    async remove({ model: id }, { audit }) {
      const model = await find(id);
      checkFields({ subject: `Model ${id}`, entry: model, fields: ["price"] });
      const nowMs = clock.nowMs();
      if (priceAt(model, nowMs)?.price === undefined)
        throw new Problem({ code: "conflict", message: `Model ${id} has no price.` });
      const given = { model: id, price: undefined, effectiveAtMs: nowMs, nowMs };
      const detail = { before: { price: priceBefore(model, nowMs) } };
      return add(given, audit({ subject: id, detail }));
    },
    async list({ model: id, at, history = false }) {
      const { models } = await catalog.load();
      const atMs = at === undefined ? clock.nowMs() : toMoment(at, "at");
      const chosen = id === undefined ? models : [findModel(models, id)];
      return chosen.flatMap((model) =>
        rowsOf({ model, atMs, shows: history ? "all" : at === undefined ? "ahead" : "then" }),
      );
    },
    async import({ models, markup = "0", dryRun, replace = false }, { audit }) {
      const content = await catalog.load();
      const factor = readMarkup(markup);
      const chosen =
        models === undefined || models.length === 0
          ? content.models
          : [...new Set(models)].map((id) => findModel(content.models, id));
      const nowMs = clock.nowMs();
      const { write, ...view } = await planImport({
        models: chosen,
        providers: content.providers,
        factor,
        replace,
        nowMs,
      });
      const isChange = write.saveModels.length > 0 || write.addPrices.length > 0;
      if (isChange && !dryRun) {
        const told = { subject: "public list prices", detail: { set: view.set.length } };
        await catalog.write({ atMs: nowMs, ...write }, audit(told));
        await takeEffect();
      }
      return { ...view, applied: isChange && !dryRun };
    },
  };
  const { set, setMany, remove, import: importPrices } = operations;
  return {
    ...operations,
    setMany: (input, author) => mutex.run(() => setMany(input, author)),
    set: (input, author) => mutex.run(() => set(input, author)),
    remove: (input, author) => mutex.run(() => remove(input, author)),
    import: (input, author) => mutex.run(() => importPrices(input, author)),
  };
}

/** A model's first price holds from the start: the clock may be set back by a moment. */
const startOf = ({ prices }: Model, nowMs: number) => (prices.length === 0 ? 0 : nowMs);

function rowsOf(options: {
  readonly model: Model;
  readonly atMs: number;
  /** All versions, the current and scheduled ones, or only the current one. */
  readonly shows: "all" | "ahead" | "then";
}): readonly PriceRow[] {
  const { model, atMs, shows } = options;
  const inForce = priceAt(model, atMs);
  const rows = model.prices
    .filter(
      (version) =>
        shows === "all" ||
        version === inForce ||
        (shows === "ahead" && version.effectiveAtMs > atMs),
    )
    .map((version) => toRow({ model, version, atMs }));
  if (rows.some(({ in_force }) => in_force) || (shows === "all" && rows.length > 0)) return rows;
  return [
    { model: model.id, version: null, price: null, effective_at: null, in_force: false },
    ...rows,
  ];
}

function toRow(options: {
  readonly model: Model;
  readonly version: PriceVersion;
  readonly atMs: number;
}): PriceRow {
  const { model, version, atMs } = options;
  return {
    model: model.id,
    version: version.version,
    price: version.price === undefined ? null : toPriceView(version.price),
    effective_at: version.effectiveAtMs === 0 ? null : toDateText(version.effectiveAtMs),
    in_force: priceAt(model, atMs) === version,
  };
}
