/**
 * Prices are integer nano-USD per million units. Operators write USD: per million tokens for the
 * token classes, per piece for images and seconds of video or audio.
 */
export const priceKeys = [
  "input",
  "cached_input",
  "cache_write",
  "output",
  "audio_output",
  "image",
  "video_second",
  "audio_second",
] as const;
export type PriceKey = (typeof priceKeys)[number];
export type Price = Readonly<Partial<Record<PriceKey, bigint>>>;

/** How much of each class a call used. No unit is in two classes. */
export type Units = Readonly<Partial<Record<PriceKey, number>>>;

const nanoDigits = 9;
const millionDigits = 6;
const million = 1_000_000n;

/** How many decimal digits the operator's number has below its unit. */
export function priceScale(key: PriceKey): number {
  return isPiece(key) ? nanoDigits + millionDigits : nanoDigits;
}

/** Priced per image or per second; everything else is priced per million tokens. */
export const isPiece = (key: PriceKey) => key === "image" || isSecond(key);

export const isSecond = (key: PriceKey) => key === "video_second" || key === "audio_second";

/** Ten thousand USD for a million tokens, or for one image: far above any, and sums stay within 64 bits. */
export const maxPriceUsd = 10_000;

export function isTooDear(key: PriceKey, units: bigint): boolean {
  return units > 10n ** BigInt(priceScale(key)) * BigInt(maxPriceUsd);
}

/** What a class costs; the kinds of input that have no price of their own cost what input does. */
export function unitPrice(price: Price, key: PriceKey): bigint {
  const own = price[key];
  if (own !== undefined) return own;
  return key === "cached_input" || key === "cache_write" ? (price.input ?? 0n) : 0n;
}

/** A token of input may be billed as any kind of it. */
export function dearestInput(price: Price): bigint {
  let dearest = 0n;
  for (const key of ["input", "cached_input", "cache_write"] as const) {
    const own = unitPrice(price, key);
    if (own > dearest) dearest = own;
  }
  return dearest;
}

/** ⌈Σ units × price ÷ 10⁶⌉ in nano-USD: summed over the classes, rounded up once. */
export function costOf(units: Units, price: Price): bigint {
  let total = 0n;
  for (const key of priceKeys) {
    const count = units[key];
    if (count !== undefined && count > 0) total += BigInt(count) * unitPrice(price, key);
  }
  return (total + million - 1n) / million;
}
