import type { AuditRecord } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { fromDecimal } from "../../base/decimal.ts";
import type { Mutex } from "../../base/mutex.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { billedClasses, pricedClasses } from "../../call/endpoint.ts";
import {
  isTooDear,
  maxPriceUsd,
  type Price,
  type PriceKey,
  priceKeys,
  priceScale,
} from "../../call/price.ts";
import type { CatalogStore } from "../../catalog/catalog.ts";
import { type Model, type PriceVersion, priceAt } from "../../catalog/model.ts";
import { checkFields } from "../../catalog/origin.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { findModel, futureDate, toMoment } from "../input/values.ts";
import { toPriceView } from "../models/views.ts";
import { planImport, readMarkup } from "./import.ts";
import type { ImportView, PriceRow } from "./schemas.ts";

export interface PriceDependencies {
  readonly catalog: CatalogStore;
  readonly clock: Clock;
  readonly takeEffect: () => Promise<void>;
  /** One change of the catalog at a time: each reads the current state before it writes. */
  readonly mutex: Mutex;
}

/** In USD: a million tokens, an image, a second of video. */
export type PriceTexts = Readonly<Partial<Record<PriceKey, string>>>;

export interface PriceOperations {
  /** A new version, active now or from a future day. Omitted classes have no price. */
  set(input: { model: string; price: PriceTexts; from?: string | undefined }): Promise<PriceRow>;
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

interface NewPrice {
  readonly model: string;
  readonly price: Price | undefined;
  readonly effectiveAtMs: number;
  readonly nowMs: number;
}

export const priceAudits = {
  set: { action: "price.set", detail: (input) => omit(input, "model") },
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
      return add({ model: id, price, effectiveAtMs, nowMs }, audit({ subject: id }));
    },
    async remove({ model: id }, { audit }) {
      const model = await find(id);
      checkFields({ subject: `Model ${id}`, entry: model, fields: ["price"] });
      const nowMs = clock.nowMs();
      if (priceAt(model, nowMs)?.price === undefined)
        throw new Problem({ code: "conflict", message: `Model ${id} has no price.` });
      const given = { model: id, price: undefined, effectiveAtMs: nowMs, nowMs };
      return add(given, audit({ subject: id }));
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
  const { set, remove, import: importPrices } = operations;
  return {
    ...operations,
    set: (input, author) => mutex.run(() => set(input, author)),
    remove: (input, author) => mutex.run(() => remove(input, author)),
    import: (input, author) => mutex.run(() => importPrices(input, author)),
  };
}

/** A model's first price holds from the start: the clock may be set back by a moment. */
const startOf = ({ prices }: Model, nowMs: number) => (prices.length === 0 ? 0 : nowMs);

function readPrice({ id, endpoint, input }: Model, texts: PriceTexts): Price {
  const price: Partial<Record<PriceKey, bigint>> = {};
  for (const key of priceKeys) {
    const text = texts[key];
    if (text === undefined) continue;
    const units = fromDecimal(text, priceScale(key));
    if (units === undefined)
      throw invalid({
        [key]: `The price must be an amount in USD with at most ${priceScale(key)} decimal places, such as 0.30, not "${text}".`,
      });
    if (isTooDear(key, units))
      throw invalid({ [key]: `The price must be at most ${maxPriceUsd} USD, not ${text}.` });
    price[key] = units;
  }
  const useless = priceKeys.filter(
    (key) => price[key] !== undefined && !pricedClasses(endpoint, input).includes(key),
  );
  if (useless.length > 0)
    throw new Problem({
      code: "invalid",
      field: useless[0],
      message: `${id} is not billed for ${useless.join(" or ")}. Its price classes are ${pricedClasses(endpoint, input).join(", ")}.`,
    });
  const lacking = billedClasses(endpoint, input).filter((key) => price[key] === undefined);
  if (lacking.length > 0)
    throw new Problem({
      code: "invalid",
      field: lacking[0],
      message: `${id} needs a price for ${lacking.join(" and ")}; 0 is allowed. The previous price is not carried over.`,
    });
  return price;
}

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
