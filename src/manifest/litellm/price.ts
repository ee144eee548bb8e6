import { fromDecimal } from "../../base/decimal.ts";
import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import { isTooDear, maxPriceUsd, type PriceKey, priceScale } from "../../call/price.ts";
import type { Remarks, Source } from "./source.ts";

export type PriceTexts = Readonly<Partial<Record<PriceKey, string>>>;

/** LiteLLM tells what one unit costs; svc.yaml what a million tokens do, or one image. */
const costFields: Readonly<Record<string, PriceKey>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cached_input",
  cache_creation_input_token_cost: "cache_write",
  output_cost_per_audio_token: "audio_output",
  input_cost_per_image: "image",
  input_cost_per_video_per_second: "video_second",
};

const number = /^\+?(\d{0,30})(?:\.(\d{0,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * A number as YAML has it, such as 1.5e-07, times a power of ten: digit by digit, because 0.15 is
 * not what a float makes of it. Undefined where the text is no number, or below zero.
 */
export function shiftDecimal(text: string, places: number): string | undefined {
  const [, whole = "", fraction = "", exponent = "0"] = number.exec(text) ?? [];
  const digits = whole + fraction;
  if (digits === "") return undefined;
  const point = whole.length + Number(exponent) + places;
  const padded = point < 0 ? "0".repeat(-point) + digits : digits.padEnd(point, "0");
  const at = Math.max(point, 0);
  const before = padded.slice(0, at).replace(/^0+/, "") || "0";
  const after = padded.slice(at).replace(/0+$/, "");
  return after === "" ? before : `${before}.${after}`;
}

/** The costs of an entry by the classes of this gateway; what it is not billed by is left out. */
export function readCosts(options: {
  readonly sources: readonly Source[];
  readonly endpoint: Endpoint;
  readonly input: InputKind;
  readonly remarks: Remarks;
}): PriceTexts {
  const { sources, endpoint, input, remarks } = options;
  const costs: Partial<Record<PriceKey, string>> = {};
  for (const [field, key] of Object.entries(costFields)) {
    const source = sources.find((one) => one.has(field));
    if (source === undefined) continue;
    const text = readCost({ source, field, key, remarks });
    if (text === undefined || !isBilled({ key, endpoint, input })) continue;
    costs[key] = text;
  }
  for (const source of sources) source.use(...Object.keys(costFields));
  // Speech is billed by its audio; LiteLLM has one price for all that comes out.
  const spoken = sources.find((one) => one.has("output_cost_per_token"));
  if (endpoint === "speech" && costs.audio_output === undefined && spoken !== undefined) {
    const text = readCost({
      source: spoken,
      field: "output_cost_per_token",
      key: "audio_output",
      remarks,
    });
    if (text !== undefined) costs.audio_output = text;
  }
  return costs;
}

function readCost(options: {
  readonly source: Source;
  readonly field: string;
  readonly key: PriceKey;
  readonly remarks: Remarks;
}): string | undefined {
  const { source, field, key, remarks } = options;
  const written = source.text(field) ?? "";
  const isPiece = key === "image" || key === "video_second";
  const text = shiftDecimal(written, isPiece ? 0 : 6);
  if (text === undefined) {
    remarks.problem(source.line(field), `${field} must be a number of USD, such as 1.5e-07`);
    return undefined;
  }
  const units = fromDecimal(text, priceScale(key));
  if (units !== undefined && !isTooDear(key, units)) return text;
  remarks.problem(
    source.line(field),
    units === undefined
      ? `${field} has more digits than a price can have: ${text} USD`
      : `${field} is more than ${maxPriceUsd} USD for a million: is it meant a token?`,
  );
  return undefined;
}

function isBilled(options: {
  readonly key: PriceKey;
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}): boolean {
  const { key, endpoint, input } = options;
  const isCache = key === "cached_input" || key === "cache_write";
  return billedClasses(endpoint, input).includes(key) || (endpoint === "chat" && isCache);
}

/** The dearest of each class; undefined where a class is lacking that the model is billed by. */
export function dearest(options: {
  readonly costs: readonly PriceTexts[];
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}): PriceTexts | undefined {
  const { costs, endpoint, input } = options;
  const price: Partial<Record<PriceKey, string>> = {};
  for (const one of costs)
    for (const key of Object.keys(one) as PriceKey[]) {
      const text = one[key];
      if (text !== undefined && isDearer(key, text, price[key])) price[key] = text;
    }
  const isWhole = billedClasses(endpoint, input).every((key) => price[key] !== undefined);
  return isWhole ? price : undefined;
}

function isDearer(key: PriceKey, text: string, other: string | undefined): boolean {
  const units = (decimal: string) => fromDecimal(decimal, priceScale(key)) ?? 0n;
  return other === undefined || units(text) > units(other);
}
