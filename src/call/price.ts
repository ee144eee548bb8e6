/**
 * Prices are integer nano-USD per million units. Operators write USD: per million tokens for the
 * token classes, per piece for images and seconds of video.
 */
export const priceKeys = [
  "input",
  "cached_input",
  "output",
  "audio_output",
  "image",
  "video_second",
] as const;
export type PriceKey = (typeof priceKeys)[number];
export type Price = Readonly<Partial<Record<PriceKey, bigint>>>;

const nanoDigits = 9;
const millionDigits = 6;

/** How many decimal digits the operator's number has below its unit. */
export function priceScale(key: PriceKey): number {
  return key === "image" || key === "video_second" ? nanoDigits + millionDigits : nanoDigits;
}
