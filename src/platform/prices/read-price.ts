import { fromDecimal } from "../../base/decimal.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { allOf, eitherOf } from "../../base/text/list-text.ts";
import { billedClasses, pricedClasses } from "../../call/endpoint.ts";
import {
  isTooDear,
  maxPriceUsd,
  type Price,
  type PriceKey,
  priceKeys,
  priceScale,
} from "../../call/price.ts";
import type { Model } from "../../catalog/model.ts";

/** In USD: a million tokens, an image, a second of video or audio. */
export type PriceTexts = Readonly<Partial<Record<PriceKey, string | undefined>>>;

/** A whole price, as typed. */
export function readPrice({ id, endpoint, input }: Model, texts: PriceTexts): Price {
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
  const priced = pricedClasses(endpoint, input);
  const useless = priceKeys.filter((key) => price[key] !== undefined && !priced.includes(key));
  if (useless.length > 0)
    throw new Problem({
      code: "invalid",
      field: useless[0],
      message: `${id} is not billed for ${eitherOf(inWords(useless))}. Its price classes are ${allOf(inWords(priced))}.`,
    });
  const lacking = billedClasses(endpoint, input).filter((key) => price[key] === undefined);
  if (lacking.length > 0)
    throw new Problem({
      code: "invalid",
      field: lacking[0],
      message: `${id} needs a price for ${allOf(inWords(lacking))}; 0 is allowed. The previous price is not carried over.`,
    });
  return price;
}

/** The API says `audio_output` and the command line `--audio-output`; "audio output" fits both. */
const inWords = (keys: readonly PriceKey[]) => keys.map((key) => key.replaceAll("_", " "));
