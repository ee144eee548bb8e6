import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Document, isMap, isScalar, parseDocument, Scalar, visit } from "yaml";
import { fromDecimal, toDecimal } from "../base/decimal.ts";
import { referencedName } from "../base/stored-reference.ts";
import { type PriceKey, priceKeys, priceScale } from "../call/price.ts";
import type { ManifestDraft, ProviderDraft } from "./draft.ts";

/** Whole files of svc.yaml that are known to work together. Each is a file in `presets/`. */
export const presetNames = ["google"] as const;
export type PresetName = (typeof presetNames)[number];

export interface Preset {
  readonly text: string;
  /** The same, to be added to a file that is there already. */
  readonly draft: ManifestDraft;
  /** The variables that it refers to. */
  readonly variables: readonly string[];
}

export interface PresetOptions {
  /** Values in place of the preset's own, by provider and field. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Makes a price of a vendor's, both in units of the price's last digit. */
  readonly toPrice?: (units: bigint) => bigint;
}

export function readPreset(name: PresetName, options: PresetOptions = {}): Preset {
  const { fields = {}, toPrice } = options;
  const source = readFileSync(join(import.meta.dir, "presets", `${name}.yaml`), "utf8");
  // "failsafe" leaves every scalar as it was written: 0.50 stays 0.50.
  const document = parseDocument(source, { schema: "failsafe" });
  for (const [provider, values] of Object.entries(fields))
    for (const [field, value] of Object.entries(values))
      document.setIn(["providers", provider, field], value);
  if (toPrice !== undefined) raisePrices(document, toPrice);
  const variables = new Set<string>();
  visit(document, {
    Scalar(_, { value }) {
      const variable = typeof value === "string" ? referencedName(value) : undefined;
      if (variable !== undefined) variables.add(variable);
    },
  });
  return {
    text: document.toString({ lineWidth: 0, flowCollectionPadding: true }),
    draft: document.toJS(),
    variables: [...variables],
  };
}

/** The variables that a provider of a draft refers to. */
export const variablesOf = (fields: ProviderDraft): readonly string[] =>
  Object.values(fields).flatMap((value) =>
    typeof value === "string" ? (referencedName(value) ?? []) : [],
  );

function raisePrices(document: Document, toPrice: (units: bigint) => bigint): void {
  const models = document.get("models");
  for (const { value: model } of isMap(models) ? models.items : []) {
    const price = isMap(model) ? model.get("price") : undefined;
    for (const pair of isMap(price) ? price.items : []) {
      const key = isScalar(pair.key)
        ? priceKeys.find((one) => one === String(pair.key))
        : undefined;
      if (key !== undefined && isScalar(pair.value)) pair.value = raised(key, pair.value, toPrice);
    }
  }
}

function raised(key: PriceKey, { value }: Scalar, toPrice: (units: bigint) => bigint): Scalar {
  const scale = priceScale(key);
  const units = fromDecimal(String(value), scale);
  if (units === undefined) throw new RangeError(`invalid price: ${String(value)}`);
  const scalar = new Scalar(toDecimal(toPrice(units), scale, 2));
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}
