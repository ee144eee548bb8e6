import { fromDecimal } from "../base/decimal.ts";
import type { Price } from "./price.ts";

const markupDigits = 6;
const one = 10n ** BigInt(markupDigits + 2);

/** `20` and `12.5` are percent on top; undefined where the text is no percentage. */
export function markupFactor(text: string): bigint | undefined {
  const percent = fromDecimal(text, markupDigits);
  if (percent === undefined || percent > 1_000_000n * 10n ** BigInt(markupDigits)) return undefined;
  return one + percent;
}

/** Rounded up: never below what was meant. */
export function withMarkup(price: Price, factor: bigint): Price {
  return Object.fromEntries(
    Object.entries(price).map(([key, units]) => [key, (units * factor + one - 1n) / one]),
  );
}
