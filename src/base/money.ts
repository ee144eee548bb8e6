import { fromDecimal, toDecimal } from "./decimal.ts";

/** Money is a bigint of nano-USD, everywhere; only people and JSON see decimal USD. */
const nanoDigits = 9;

/** More than anybody prepays, and far from what a 64-bit column can hold. */
export const maxEntryNano = 1_000_000_000n * 1_000_000_000n;

export function fromUsd(text: string): bigint | undefined {
  return fromDecimal(text, nanoDigits);
}

/** Every digit that there is, and at least cents. */
export function toUsd(nano: bigint): string {
  return toDecimal(nano, nanoDigits, 2);
}

/** Adds amounts up, exactly; those below zero as well. */
export function sumUsd(texts: readonly string[]): string {
  return toUsd(texts.reduce((sum, text) => sum + fromSignedUsd(text), 0n));
}

function fromSignedUsd(text: string): bigint {
  const nano = fromUsd(text.replace("-", "")) ?? 0n;
  return text.startsWith("-") ? -nano : nano;
}
