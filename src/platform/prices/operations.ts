import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { fromDecimal } from "../../base/decimal.ts";
import { Problem } from "../../base/problem.ts";
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
import { futureDate, toMoment } from "../inputs.ts";
import { toPriceView } from "../views.ts";
import { type ImportView, planImport, readMarkup } from "./import.ts";

export interface PriceParts {
  readonly catalog: CatalogStore;
  readonly clock: Clock;
  readonly takeEffect: () => Promise<void>;
}

/** In USD: a million tokens, an image, a second of video. */
export type PriceTexts = Readonly<Partial<Record<PriceKey, string>>>;

export interface PriceRow {
  readonly model: string;
  /** Null for a model that never had a price. */
  readonly version: number | null;
  /** Null: from then on it has none. */
  readonly price: Readonly<Record<string, string>> | null;
  /** Null for a first price, which holds from the start. */
  readonly effective_at: string | null;
  /** At the moment that was asked for. */
  readonly in_force: boolean;
}

export interface PriceOperations {
  /** A new version, in force now or from a day ahead. Classes that are not named have no price. */
  setPrice(input: { model: string; price: PriceTexts; from?: string }): Promise<PriceRow>;
  /** In force now with what comes later, in force at a moment, or all there ever was. */
  listPrices(input: {
    model?: string;
    at?: string;
    history?: boolean;
  }): Promise<readonly PriceRow[]>;
  /** Takes public list prices over, for models and for what routes cost. */
  importPrices(input: {
    models?: readonly string[];
    markup?: string;
    dryRun: boolean;
    replace: boolean;
  }): Promise<ImportView>;
}

export function priceOperations({ catalog, clock, takeEffect }: PriceParts): PriceOperations {
  const find = async (id: string) => findModel((await catalog.load()).models, id);
  return {
    async setPrice({ model: id, price: texts, from }) {
      const model = await find(id);
      checkFields({ subject: `Model ${id}`, entry: model, fields: ["price"] });
      const price = readPrice(model, texts);
      const nowMs = clock.nowMs();
      const effectiveAtMs =
        from === undefined
          ? startOf(model, nowMs)
          : futureDate({ text: from, flag: "--from", nowMs });
      await catalog.write({
        atMs: nowMs,
        addPrices: [{ modelId: id, price, effectiveAtMs, createdAtMs: nowMs }],
      });
      await takeEffect();
      const after = await find(id);
      const added = after.prices.reduce((one, other) =>
        other.version > one.version ? other : one,
      );
      return toRow({ model: after, version: added, atMs: clock.nowMs() });
    },
    async listPrices({ model: id, at, history = false }) {
      const { models } = await catalog.load();
      const atMs = at === undefined ? clock.nowMs() : toMoment(at, "--at");
      const chosen = id === undefined ? models : [findModel(models, id)];
      return chosen.flatMap((model) =>
        rowsOf({ model, atMs, shows: history ? "all" : at === undefined ? "ahead" : "then" }),
      );
    },
    async importPrices({ models, markup = "0", dryRun, replace }) {
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
        await catalog.write({ atMs: nowMs, ...write });
        await takeEffect();
      }
      return { ...view, applied: isChange && !dryRun };
    },
  };
}

/** A model's first price holds from the start: the clock may be set back by a moment. */
const startOf = ({ prices }: Model, nowMs: number) => (prices.length === 0 ? 0 : nowMs);

function findModel(models: readonly Model[], id: string): Model {
  const model = models.find((known) => known.id === id);
  if (model === undefined)
    throw new Problem({
      code: "not_found",
      message: `There is no model ${id}; ./svc model list shows those there are.`,
    });
  return model;
}

const flagOf = (key: PriceKey) => `--${key.replaceAll("_", "-")}`;

function readPrice({ id, endpoint, input }: Model, texts: PriceTexts): Price {
  const price: Partial<Record<PriceKey, bigint>> = {};
  for (const key of priceKeys) {
    const text = texts[key];
    if (text === undefined) continue;
    const units = fromDecimal(text, priceScale(key));
    if (units === undefined)
      throw new Problem({
        code: "invalid",
        message: `${flagOf(key)} must be a decimal number of USD with at most ${priceScale(key)} digits after the point, such as 0.30, not "${text}".`,
      });
    if (isTooDear(key, units))
      throw new Problem({
        code: "invalid",
        message: `${flagOf(key)} must be at most ${maxPriceUsd} USD, not ${text}.`,
      });
    price[key] = units;
  }
  const useless = priceKeys.filter(
    (key) => price[key] !== undefined && !pricedClasses(endpoint, input).includes(key),
  );
  if (useless.length > 0)
    throw new Problem({
      code: "invalid",
      message: `${useless.map(flagOf).join(" and ")} must not be named: ${id} is never billed by it, only by ${pricedClasses(endpoint, input).join(", ")}.`,
    });
  const lacking = billedClasses(endpoint, input).filter((key) => price[key] === undefined);
  if (lacking.length > 0)
    throw new Problem({
      code: "invalid",
      message: `${lacking.map(flagOf).join(" and ")} must be named: ${id} is billed by ${billedClasses(endpoint, input).join(" and ")} (0 is a price). What is not named is not taken over from the price before.`,
    });
  return price;
}

function rowsOf(options: {
  readonly model: Model;
  readonly atMs: number;
  /** All versions, the one in force and those ahead, or the one in force alone. */
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
