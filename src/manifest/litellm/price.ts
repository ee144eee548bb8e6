import { fromDecimal } from "../../base/decimal.ts";
import { billedClasses, type Endpoint, type InputKind } from "../../call/endpoint.ts";
import {
  isPiece,
  isTooDear,
  maxPriceUsd,
  type PriceKey,
  priceKeys,
  priceScale,
} from "../../call/price.ts";
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
  input_cost_per_second: "audio_second",
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
  const billed = billedClasses(endpoint, input);
  const isBilled = (key: PriceKey) =>
    billed.includes(key) || (endpoint === "chat" && key.startsWith("cache"));
  const costs: Partial<Record<PriceKey, string>> = {};
  for (const [field, ownKey] of Object.entries(costFields)) {
    const source = sources.find((one) => one.has(field));
    for (const one of sources) one.use(field);
    // Speech is billed by its audio; LiteLLM has one price for all that comes out.
    const isSpoken = endpoint === "speech" && ownKey === "output";
    const key = isSpoken ? "audio_output" : ownKey;
    const text = source && readCost({ source, field, key, remarks });
    if (text !== undefined && isBilled(key)) costs[key] = text;
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
  const text = shiftDecimal(source.text(field) ?? "", isPiece(key) ? 0 : 6);
  const units = text === undefined ? undefined : fromDecimal(text, priceScale(key));
  if (units !== undefined && !isTooDear(key, units)) return text;
  const wrong =
    text === undefined
      ? "must be an amount in USD, such as 1.5e-07"
      : units === undefined
        ? `has too many digits: ${text} USD`
        : `is more than ${maxPriceUsd} USD per million; is it a price per token?`;
  remarks.problem(source.line(field), `${field} ${wrong}`);
  return undefined;
}

/** The dearest of each class; undefined where a class is lacking that the model is billed by. */
export function dearest(options: {
  readonly costs: readonly PriceTexts[];
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}): PriceTexts | undefined {
  const { costs, endpoint, input } = options;
  const price: Partial<Record<PriceKey, string>> = {};
  for (const key of priceKeys) {
    const units = (text: string) => fromDecimal(text, priceScale(key)) ?? 0n;
    const [most] = costs
      .flatMap((one) => one[key] ?? [])
      .toSorted((one, other) => (units(one) > units(other) ? -1 : 1));
    if (most !== undefined) price[key] = most;
  }
  const isWhole = billedClasses(endpoint, input).every((key) => price[key] !== undefined);
  return isWhole ? price : undefined;
}
